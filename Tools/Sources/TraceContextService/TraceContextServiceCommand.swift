import ArgumentParser
import KeelAsyncHTTPClient
import KeelHummingbird
import Logging

/// Runs the W3C's test harness for trace context against Keel.
@main
struct TraceContextServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keel-trace-context-service",
        abstract: "Lets the W3C's harness for trace context test how Keel passes traces on.",
        discussion: """
            Listens on the loopback interface only. The first line of output is the address; \
            SIGTERM and SIGINT end it. Scripts/check.sh --trace-context runs it with the harness.
            """
    )

    @Option(help: "The port to listen on; 0 selects a free one.")
    var port = 0

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
    }

    func run() async throws {
        let transport = AsyncHTTPClientTransport()
        let logger = Logger(label: "keel.trace") { StreamLogHandler.standardError(label: $0) }
        try await HandlerServer.serveUntilSignal(
            CallbackHandler(transport: transport),
            port: port,
            logger: logger
        )
        await transport.shutdown()
    }
}
