internal import HTTPTypes
internal import KeelHTTP
internal import Synchronization

/// Logs the events of calls, one short line each.
///
/// A line contains no query values, header fields or bodies.
final class CallLog: HTTPEventObserver {
    private let write: @Sendable (String) -> Void
    /// The active calls, by their names in the log.
    private let names = Mutex<[HTTPCallID: String]>([:])

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    func observe(_ event: HTTPEvent) {
        switch event.kind {
        case .started(let head):
            let name = Self.name(of: head)
            names.withLock { $0[event.call] = name }
        case .retrying(let pause, let reason):
            say("retried after \(Self.text(pause)): \(reason)", of: event.call)
        case .joined: say("joined a call under way", of: event.call)
        case .credentialsRenewed: write("session: credentials renewed")
        case .succeeded(let status): end("answered with \(status)", event.call)
        case .failed(let error): end("failed: \(error.code.name)", event.call)
        default: break
        }
    }

    private func say(_ text: String, of call: HTTPCallID) {
        let name = names.withLock { $0[call] }
        write("\(name ?? "a call") \(text)")
    }

    private func end(_ text: String, _ call: HTTPCallID) {
        say(text, of: call)
        names.withLock { $0[call] = nil }
    }

    private static func name(of head: HTTPRequest) -> String {
        let target = head.path ?? "/"
        let path = target.prefix { $0 != "?" }
        return "\(head.method.rawValue) \(path)\(path.count < target.count ? "?…" : "")"
    }

    private static func text(_ pause: Duration) -> String {
        let milliseconds = Int(pause / .milliseconds(1))
        guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
        return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
