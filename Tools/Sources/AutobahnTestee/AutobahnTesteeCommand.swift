import ArgumentParser
import Foundation
import HTTPTypes
import KeelWebSocket
import KeelWebSocketNIO

/// Lets the Autobahn test suite test Keel's WebSocket client.
@main
struct AutobahnTesteeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keel-autobahn-testee",
        abstract: "Lets the Autobahn test suite test Keel's WebSocket client.",
        discussion: """
            Asks the suite's fuzzing server how many cases there are, echoes the messages of each, and \
            has the report written. Scripts/check.sh --autobahn runs it with the suite.
            """
    )

    @Argument(help: "The fuzzing server, such as ws://127.0.0.1:9001.")
    var url: String

    @Argument(help: "The name that the report gives the client.")
    var agent: String = "Keel"

    func run() async throws {
        guard let base = URLComponents(string: url), base.scheme == "ws", base.host != nil else {
            throw ValidationError("URL must be like ws://127.0.0.1:9001.")
        }
        let suite = AutobahnSuite(base: base, agent: agent, transport: NIOWebSocketTransport())
        let count = try await suite.caseCount()
        for number in stride(from: 1, through: count, by: 1) {
            await suite.run(number)
            if number.isMultiple(of: 50) || number == count { print("\(number) of \(count) cases") }
        }
        try await suite.writeReport()
    }
}

/// The fuzzing server of the suite, as its clients see it.
struct AutobahnSuite {
    private let base: URLComponents
    private let agent: String
    private let transport: any WebSocketTransport
    private let configuration: WebSocketConfiguration

    /// Creates the client's side of the suite.
    init(base: URLComponents, agent: String, transport: any WebSocketTransport) {
        self.base = base
        self.agent = agent
        self.transport = transport
        var configuration = WebSocketConfiguration()
        // The largest messages of the suite have 16 MiB; a ping of Keel's own is none of its cases.
        configuration.maximumMessageSize = 32 << 20
        configuration.maximumFrameSize = 32 << 20
        configuration.pingInterval = nil
        self.configuration = configuration
    }

    /// How many cases there are.
    func caseCount() async throws -> Int {
        let text = try await transport.withConnection(
            to: request("/getCaseCount"),
            configuration: configuration
        ) { connection in try await connection.receive()?.text }
        guard let count = text.flatMap({ Int($0) }) else {
            throw ValidationError("The server did not say how many cases there are.")
        }
        return count
    }

    /// Echoes the messages of a case.
    ///
    /// Many cases break the protocol on purpose, so that the connection ends with an error. What that error
    /// should have been is up to the report.
    func run(_ number: Int) async {
        _ = try? await transport.withConnection(
            to: request("/runCase", ["case": "\(number)", "agent": agent]),
            configuration: configuration
        ) { connection in
            for try await message in connection.messages { try await connection.send(message) }
        }
    }

    /// Has the server write its report.
    func writeReport() async throws {
        try await transport.withConnection(
            to: request("/updateReports", ["agent": agent]),
            configuration: configuration
        ) { connection in
            for try await _ in connection.messages {}
        }
    }

    private func request(
        _ path: String,
        _ query: [String: String] = [:]
    ) throws -> HTTPRequest {
        var address = base
        address.path = path
        if !query.isEmpty {
            address.queryItems = query.sorted { $0.key < $1.key }
                .map { URLQueryItem(name: $0.key, value: $0.value) }
        }
        guard let url = address.url else { throw ValidationError("URL and agent make no address.") }
        return try HTTPRequest(webSocket: url)
    }
}
