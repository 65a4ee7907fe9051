internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
import Synchronization

/// Writes the interim responses of one request to its client, as long as there is no final one.
///
/// They are hints. Those that the client does not take at once are dropped, and so are those beyond the
/// sixty-fourth: an origin could send them for ever.
final class InterimResponses: Sendable {
    private let channel: any Channel
    /// How many may still be written; zero once the final response is about to be.
    private let rest = Mutex(64)

    init(on channel: any Channel) { self.channel = channel }

    /// Writes one with a status of 102 to 199; others concern the connection.
    func write(_ head: HTTPResponse) {
        guard (102..<200).contains(head.status.code) else { return }
        rest.withLock { rest in
            guard rest > 0 else { return }
            rest -= 1
            // Under the lock, so that the event loop has it before the final head, which comes to the same
            // loop after `end()`.
            channel.eventLoop.execute { [channel] in
                guard channel.isActive, channel.isWritable else { return }
                channel.writeAndFlush(HTTPResponsePart.head(head), promise: nil)
            }
        }
    }

    /// Lets no more of them through.
    func end() { rest.withLock { $0 = 0 } }
}
