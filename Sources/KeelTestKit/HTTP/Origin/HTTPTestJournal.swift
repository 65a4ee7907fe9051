/// A connection as a test's server saw it.
public struct HTTPTestConnection: Sendable, Hashable {
    /// The place among all connections of the server, from 0.
    public var number: Int
    /// Whether it is over.
    public var isClosed = false
    /// What went wrong in its handshake, in the words of the TLS library.
    public var handshakeFailure: String?
    /// The secure channel, where there is one.
    public var security: HTTPTestRequest.Security?
    /// How many bytes have come in, after decryption.
    public var receivedBytes = 0

    /// Creates a connection.
    public init(number: Int) {
        self.number = number
    }
}

/// Everything that a test's server has seen.
package struct HTTPTestJournal: Sendable {
    package var requests: [HTTPTestRequest] = []
    package var disconnects: [HTTPTestDisconnect] = []
    package var connections: [HTTPTestConnection] = []
    /// What the handlers threw.
    package var failures: [String] = []

    package init() {}

    package mutating func open() -> Int {
        connections.append(HTTPTestConnection(number: connections.count))
        return connections.count - 1
    }

    /// Notes a request and returns its number.
    package mutating func begin(_ request: HTTPTestRequest, on connection: Int) -> Int {
        var request = request
        request.number = requests.count
        request.connection = connection
        request.numberOnConnection = requests.count { $0.connection == connection }
        request.security = connections[connection].security
        requests.append(request)
        return request.number
    }

    /// Notes bytes of a request's body; beyond `limit` bytes only their number is kept.
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
