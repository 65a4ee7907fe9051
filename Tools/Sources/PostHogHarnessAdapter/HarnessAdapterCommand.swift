import ArgumentParser
import KeelAsyncHTTPClient
import KeelHummingbird
import Logging

/// Serves the adapter that PostHog's SDK test harness calls.
@main
struct HarnessAdapterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "posthog-harness-adapter",
        abstract: "Lets PostHog's SDK test harness test Keel's destination for PostHog.",
        discussion: """
            Listens on the loopback interface only. The first line of output is the address; \
            SIGTERM and SIGINT end it. Scripts/check.sh --posthog runs it with the harness.
            """
    )

    @Option(help: "The port to listen on; 0 selects a free one.")
    var port = 0

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
    }

    func run() async throws {
        let transport = AsyncHTTPClientTransport()
        let adapter = HarnessAdapter(transport: transport)
        let logger = Logger(label: "keel.posthog") { StreamLogHandler.standardError(label: $0) }
        try await HandlerServer.serveUntilSignal(adapter, port: port, logger: logger)
        await adapter.reset()
        await transport.shutdown()
    }
}
