import Foundation
import Testing

/// Checks that what a trait brings is found without it, too, and then names the trait.
@Suite("Traits")
struct TraitTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: DocumentedFile.root.appending(path: path), encoding: .utf8)
    }

    /// A file with something that apps call, and the trait that it needs.
    private static let files = [
        ("Sources/App/Keel/Presets/KeelConfiguration+Logging.swift", "Logging"),
        ("Sources/HTTP/KeelAsyncHTTPClient/AsyncHTTPClientTransport.swift", "AsyncHTTPClient"),
        ("Sources/HTTP/KeelHTTPObservability/ObservedHTTPTransport.swift", "Observability"),
        ("Sources/HTTP/KeelWebSocketNIO/NIOWebSocketTransport.swift", "WebSocket"),
        ("Sources/Security/KeelSecurity/SecurityService.swift", "Crypto"),
        ("Sources/Server/KeelServiceLifecycle/LifecycleService.swift", "ServiceLifecycle"),
        ("Sources/Storage/KeelStoragePostgreSQL/PostgreSQLStorageAdapter.swift", "PostgreSQL"),
        ("Sources/Storage/KeelStorageSQLite/SQLiteStorageAdapter.swift", "SQLite"),
        ("Sources/Telemetry/KeelLogging/Files/RotatingLogFile.swift", "Logging"),
        ("Sources/Telemetry/KeelLogging/LoggingPreset.swift", "Logging"),
        ("Sources/Telemetry/KeelLoggingOTLP/OTLPLogExporter.swift", "Logging"),
        ("Sources/Testing/KeelTestServer/FaultServer.swift", "TestServer"),
    ]

    @Test("Without its trait, it is unavailable and names the trait", arguments: files)
    func unavailable(_ path: String, _ trait: String) throws {
        let parts = try Self.text(path).components(separatedBy: "\n#else\n")
        let rest = try #require(parts.last)
        #expect(rest.contains("unavailable"))
        #expect(rest.contains("Enable the '\(trait)' trait of the keel package"))
    }

    @Test("Each trait has such a file")
    func traits() throws {
        let names = try Self.text("Package.swift").matches(of: /\.trait\(\s*name: "(\w+)"/)
            .map { String($0.1) }
        // Without the trait `URLSession`, Linux has another transport.
        #expect(Set(names) == Set(Self.files.map { $0.1 } + ["URLSession"]))
    }

    @Test("The umbrella exports its modules with and without their traits")
    func exports() throws {
        let lines = try Self.text("Sources/App/Keel/Exports.swift").components(separatedBy: "\n")
        for module in ["KeelAsyncHTTPClient", "KeelLogging", "KeelStorageSQLite"] {
            #expect(lines.contains("@_exported public import \(module)"))
        }
        let conditions = lines.filter { $0.hasPrefix("#if") }
        #expect(conditions.allSatisfy { $0.hasPrefix("#if canImport(Keel") })
    }
}
