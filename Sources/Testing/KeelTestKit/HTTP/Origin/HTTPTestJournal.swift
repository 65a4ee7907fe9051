/// A connection as recorded by a test server.
public struct HTTPTestConnection: Sendable, Hashable {
    /// The position among all connections of the server, from 0.
    public var number: Int
    /// Whether the connection is closed.
    public var isClosed = false
    /// The reason of a failed handshake, in the words of the TLS library.
    public var handshakeFailure: String?
    /// The secure channel, if there is one.
    public var security: HTTPTestRequest.Security?
    /// The number of received bytes, after decryption.
    public var receivedBytes = 0

    /// Creates a connection.
    public init(number: Int) {
        self.number = number
    }
}

package struct HTTPTestJournal: Sendable {
    package var requests: [HTTPTestRequest] = []
    package var disconnects: [HTTPTestDisconnect] = []
    package var connections: [HTTPTestConnection] = []
    package var failures: [String] = []

    package init() {}

    package mutating func open() -> Int {
        connections.append(HTTPTestConnection(number: connections.count))
        return connections.count - 1
    }

    package mutating func begin(_ request: HTTPTestRequest, on connection: Int) -> Int {
        var request = request
        request.number = requests.count
        request.connection = connection
        request.numberOnConnection = requests.count { $0.connection == connection }
        request.security = connections[connection].security
        requests.append(request)
        return request.number
    }

    /// Records bytes of a request's body; beyond `limit` bytes only their number is kept.
    package mutating func receive(_ bytes: some Collection<UInt8>, of request: Int, limit: Int) {
        requests[request].bodyLength += bytes.count
        let room = limit - requests[request].body.count
        if room > 0 { requests[request].body.append(contentsOf: bytes.prefix(room)) }
    }
}

extension Watched<HTTPTestJournal> {
    package func waitForRequests(
        _ count: Int,
        whole: Bool = true
    ) async throws -> [HTTPTestRequest] {
        try await wait { journal in
            let seen = journal.requests.filter { $0.isComplete || !whole }
            return seen.count >= count ? seen : nil
        }
    }

    package func waitForAnswers(_ count: Int) async throws -> [HTTPTestRequest] {
        try await wait { journal in
            let answered = journal.requests.filter(\.isAnswered)
            return answered.count >= count ? answered : nil
        }
    }

    package func waitForDisconnects(_ count: Int) async throws -> [HTTPTestDisconnect] {
        try await wait { $0.disconnects.count >= count ? $0.disconnects : nil }
    }

    package func waitForConnections(
        _ count: Int,
        closed: Bool
    ) async throws -> [HTTPTestConnection] {
        try await wait { journal in
            let seen = journal.connections.filter { $0.isClosed || !closed }
            return seen.count >= count ? seen : nil
        }
    }
}
