public import KeelHTTP

/// A type that responds to HTTP requests, independent of a server framework.
///
/// A test calls a handler in process, through ``HandlerTransport``. A handler promises that
///
/// - it responds to every request, even if malformed or not allowed, with a status instead of an error;
/// - it can be called concurrently, and stops when the calling task is canceled, as when the client disconnects;
/// - it reads no more of a request's body than it needs, and enforces its own limits.
public protocol ServingHandler: Sendable {
    /// Responds to a request.
    ///
    /// - Parameter call: The request. Its target has a path; scheme and authority are set if the server knows them. A
    ///   server that forwards interim responses sets `onInterimResponse`, which a handler may call until it returns,
    ///   and one that knows the connection sets `HTTPCallOptions/connection`.
    /// - Returns: The response. Releasing an unread body stops its producer.
    func respond(to call: HTTPCall) async -> HTTPReply
}

extension HTTPCallOptions {
    private enum ConnectionKey: HTTPCallOptionKey {
        static var defaultValue: UInt64? { nil }

        // A call that a handler passes on is answered alike on all connections.
        static func sharingKey(of value: UInt64?) -> AnyHashable? { AnyHashable(0) }
    }

    /// A number that identifies the connection of a call among those of a server; nil if the server sets none.
    ///
    /// `StorageServer` attributes the anonymous calls of one connection to one caller.
    public var connection: UInt64? {
        get { self[ConnectionKey.self] }
        set { self[ConnectionKey.self] = newValue }
    }
}

/// A transport to a handler in the same process.
///
/// Use it to connect a client and a server in a test, or to embed a server in an app.
public struct HandlerTransport: HTTPTransport {
    private let handler: any ServingHandler

    public let features: HTTPTransportFeatures = [.streamingUpload, .trailers]

    /// Creates a transport to a handler.
    public init(_ handler: any ServingHandler) { self.handler = handler }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let reply = await handler.respond(to: call)
        guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .awaitHead) }
        return reply
    }

    public func shutdown() async {}
}
