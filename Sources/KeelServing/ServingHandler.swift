public import KeelHTTP

/// A type that answers requests, whatever server has received them.
///
/// It knows no framework: a server hands it what it received and sends what it returns, and a test
/// calls it in process, through ``HandlerTransport``. A handler promises that
///
/// - it answers every request, also what is malformed or not allowed: with a status, not an error;
/// - it takes calls from any number of tasks, and stops when the task of a call is cancelled, which
///   is how a server says that the client is gone;
/// - it reads no more of a request's body than it needs, and its own limits hold.
public protocol ServingHandler: Sendable {
    /// Answers a request.
    ///
    /// - Parameter call: The request. Its target has a path; scheme and authority are there where
    ///   the server knows them. A server that passes interim responses on has set
    ///   `onInterimResponse`, which a handler may call until it returns.
    /// - Returns: The response. A body that is dropped unread ends whatever produces it.
    func respond(to call: HTTPCall) async -> HTTPReply
}

/// A transport that asks a handler in the same process.
///
/// It lets a client and a server meet in a test, or an app carry its server along.
public struct HandlerTransport: HTTPTransport {
    private let handler: any ServingHandler

    public let features: HTTPTransportFeatures = [.streamingUpload, .trailers]

    /// Creates a transport that asks a handler.
    public init(_ handler: any ServingHandler) { self.handler = handler }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let reply = await handler.respond(to: call)
        guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .awaitHead) }
        return reply
    }

    public func shutdown() async {}
}
