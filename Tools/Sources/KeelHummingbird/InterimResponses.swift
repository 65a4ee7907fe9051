internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
import Synchronization

/// Writes the interim responses of one request until its final response.
///
/// Interim responses are hints. Those that the client does not take at once are dropped, and so are those after the
/// 64th, because an origin could send them endlessly.
final class InterimResponses: Sendable {
    private let channel: any Channel
    /// The number that may still be written; zero once the final response follows.
    private let rest = Mutex(64)

    init(on channel: any Channel) { self.channel = channel }

    /// Writes a response with a status from 102 to 199; others concern the connection.
    func write(_ head: HTTPResponse) {
        guard (102..<200).contains(head.status.code) else { return }
        rest.withLock { rest in
            guard rest > 0 else { return }
            rest -= 1
            // Under the lock, so that the event loop receives it before the final head, which is passed to the same
            // loop after `end()`.
            channel.eventLoop.execute { [channel] in
                guard channel.isActive, channel.isWritable else { return }
                channel.writeAndFlush(HTTPResponsePart.head(head), promise: nil)
            }
        }
    }

    /// Drops all further responses.
    func end() { rest.withLock { $0 = 0 } }
}
