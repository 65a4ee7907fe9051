// swift-tools-version: 6.2
import PackageDescription

// The command `keel`, and the server that its handlers run behind. They are a package of their own,
// so that no app resolves a server or a parser of command lines.

/// The settings of every target: the same as in Keel itself.
let strict: [SwiftSetting] =
    [
        "ExistentialAny",
        "InternalImportsByDefault",
        "MemberImportVisibility",
        "NonisolatedNonsendingByDefault",
        "InferIsolatedConformances",
    ].map { .enableUpcomingFeature($0) } + [
        .treatAllWarnings(as: .error),
        .treatWarning("ExplicitSendable", as: .error),
        .treatWarning("DeprecatedDeclaration", as: .warning),
    ]

/// A product of Keel.
func keel(_ product: String) -> Target.Dependency { .product(name: product, package: "keel") }

/// The adapter of PostgreSQL, unless `--disable-default-traits` builds without libpq.
let postgreSQL = Target.Dependency.product(
    name: "KeelStoragePostgreSQL",
    package: "keel",
    condition: .when(traits: ["PostgreSQL"])
)

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle"
)

let package = Package(
    name: "keel-tools",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "keel", targets: ["KeelCLI"]),
        .executable(name: "keel-autobahn-testee", targets: ["AutobahnTestee"]),
        .executable(name: "keel-trace-context-service", targets: ["TraceContextService"]),
        .executable(name: "posthog-harness-adapter", targets: ["PostHogHarnessAdapter"]),
    ],
    traits: [
        .trait(name: "PostgreSQL", description: "Opens stores in PostgreSQL, on libpq."),
        .default(enabledTraits: ["PostgreSQL"]),
    ],
    dependencies: [
        // With the traits of the example and the benchmarks, so that Keel is compiled once for all three.
        .package(
            name: "keel",
            path: "..",
            traits: [
                .defaults, "Logging", "WebSocket",
                .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.45.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "KeelHummingbird",
            dependencies: [
                keel("KeelHTTP"), keel("KeelServing"), httpTypes, logging, lifecycle,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .target(name: "KeelToolSupport", dependencies: [keel("KeelCore")]),
        .target(name: "KeelTerminal"),
        .target(
            name: "KeelDocumentTools",
            dependencies: [
                "KeelTerminal", "KeelToolSupport", crypto, keel("KeelStorage"),
                keel("KeelStorageFirestore"), keel("KeelStorageSQLite"), postgreSQL,
            ]
        ),
        .target(name: "KeelProjectTools", dependencies: ["KeelToolSupport"]),
        .target(
            name: "KeelDoctorTools",
            dependencies: [
                "KeelDocumentTools", "KeelToolSupport", keel("KeelFiles"), keel("KeelHTTP"),
                keel("KeelSecrets"), keel("KeelStorage"), keel("KeelStorageSQLite"), httpTypes,
                postgreSQL,
            ]
        ),
        .target(
            name: "KeelFileTools",
            dependencies: [
                "KeelToolSupport", keel("KeelFiles"), keel("KeelFilesS3"), keel("KeelHTTP"),
                httpTypes,
            ]
        ),
        .target(
            name: "KeelSecurityTools",
            dependencies: [
                "KeelToolSupport", keel("KeelCore"), keel("KeelSecrets"), keel("KeelSecurity"),
            ]
        ),
        .target(
            name: "KeelTelemetryTools",
            dependencies: [
                "KeelToolSupport", keel("KeelAnalytics"), keel("KeelAnalyticsHTTP"),
                keel("KeelCore"), keel("KeelHTTP"), keel("KeelJournal"), keel("KeelLogging"),
                keel("KeelLoggingOTLP"), keel("KeelStorage"), logging,
            ]
        ),
        .executableTarget(
            name: "KeelCLI",
            dependencies: [
                "KeelDoctorTools", "KeelDocumentTools", "KeelFileTools", "KeelHummingbird",
                "KeelProjectTools", "KeelSecurityTools",
                "KeelTelemetryTools", "KeelTerminal", "KeelToolSupport", keel("KeelAnalytics"),
                keel("KeelAsyncHTTPClient"), keel("KeelCache"), keel("KeelCore"),
                keel("KeelFiles"), keel("KeelFilesS3"), keel("KeelHTTP"),
                keel("KeelHTTPCaching"), keel("KeelLogging"),
                keel("KeelSecrets"), keel("KeelSecurity"), keel("KeelServing"),
                keel("KeelStorage"), keel("KeelStorageFirestore"), keel("KeelStorageSQLite"),
                httpTypes, logging, lifecycle, postgreSQL,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            plugins: ["KeelVersionPlugin"]
        ),
        // Names the commit and the compiler for keel --version.
        .plugin(name: "KeelVersionPlugin", capability: .buildTool()),
        // What PostHog's SDK test harness talks to; see Scripts/posthog-harness.sh.
        .executableTarget(
            name: "PostHogHarnessAdapter",
            dependencies: [
                "KeelHummingbird", keel("KeelAnalytics"), keel("KeelAnalyticsHTTP"),
                keel("KeelAsyncHTTPClient"), keel("KeelHTTP"), keel("KeelHTTPCompression"),
                keel("KeelServing"), httpTypes, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // What the Autobahn test suite talks to; see Scripts/outside/autobahn.sh.
        .executableTarget(
            name: "AutobahnTestee",
            dependencies: [
                keel("KeelHTTP"), keel("KeelWebSocket"), keel("KeelWebSocketNIO"), httpTypes,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // What the W3C's harness for trace context talks to; see Scripts/outside/trace-context.sh.
        .executableTarget(
            name: "TraceContextService",
            dependencies: [
                "KeelHummingbird", keel("KeelAsyncHTTPClient"), keel("KeelHTTP"),
                keel("KeelServing"), httpTypes, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(name: "KeelToolsTestSupport", path: "Tests/KeelToolsTestSupport"),
        .testTarget(
            name: "KeelDocumentToolsTests",
            dependencies: [
                "KeelCLI", "KeelDocumentTools", "KeelTerminal", "KeelToolSupport",
                "KeelToolsTestSupport", keel("KeelServing"), keel("KeelStorage"),
                keel("KeelStorageFirestore"),
                keel("KeelStorageSQLite"), keel("KeelTestKit"), postgreSQL,
            ]
        ),
        .testTarget(
            name: "KeelFileToolsTests",
            dependencies: [
                "KeelCLI", "KeelFileTools", "KeelToolSupport", "KeelToolsTestSupport",
                keel("KeelAsyncHTTPClient"), keel("KeelFiles"), keel("KeelFilesS3"),
                keel("KeelHTTP"), keel("KeelTestKit"), httpTypes,
            ],
            exclude: ["moto-server.py"]
        ),
        .testTarget(
            name: "KeelProjectToolsTests",
            dependencies: [
                "KeelCLI", "KeelDoctorTools", "KeelProjectTools", "KeelToolSupport",
                "KeelToolsTestSupport", keel("KeelAnalytics"), keel("KeelCache"), keel("KeelCore"),
                keel("KeelFiles"), keel("KeelFilesS3"), keel("KeelHTTP"), keel("KeelJournal"),
                keel("KeelLogging"), keel("KeelSecrets"), keel("KeelSecurity"),
                keel("KeelStorage"), keel("KeelStorageFirestore"), keel("KeelStorageSQLite"),
                keel("KeelTestKit"), httpTypes,
            ]
        ),
        .testTarget(
            name: "KeelSecurityToolsTests",
            dependencies: [
                "KeelCLI", "KeelSecurityTools", "KeelToolSupport", "KeelToolsTestSupport",
                keel("KeelCore"), keel("KeelSecrets"), keel("KeelSecurity"),
            ]
        ),
        .testTarget(
            name: "KeelTelemetryToolsTests",
            dependencies: [
                "KeelCLI", "KeelTelemetryTools", "KeelToolsTestSupport", keel("KeelAnalytics"),
                keel("KeelJournal"), keel("KeelLogging"), keel("KeelLoggingOTLP"),
                keel("KeelSecrets"), keel("KeelSecurity"), keel("KeelStorage"),
                keel("KeelTestKit"), logging,
            ]
        ),
        .testTarget(
            name: "KeelTerminalTests",
            dependencies: [
                "KeelCLI", "KeelDocumentTools", "KeelTerminal", "KeelToolsTestSupport",
                keel("KeelStorage"), keel("KeelStorageSQLite"), keel("KeelTestKit"),
            ]
        ),
        .testTarget(
            name: "KeelToolsTests",
            dependencies: [
                "KeelCLI", "KeelHummingbird", "KeelToolsTestSupport",
                keel("KeelAsyncHTTPClient"), keel("KeelCore"), keel("KeelHTTP"),
                keel("KeelServing"), keel("KeelStorage"),
                keel("KeelStorageFirestore"), keel("KeelStorageSQLite"), keel("KeelTestKit"),
                httpTypes, logging, lifecycle, postgreSQL,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
            ],
            exclude: ["Support/firestore-client.py", "Support/listener_checks.py"]
        ),
        // Uploads to the IETF's protocol, against SwiftNIO's own server for it: here, because no app
        // is to resolve that package.
        .executableTarget(
            name: "KeelTransferUploader",
            dependencies: [
                keel("KeelAsyncHTTPClient"), keel("KeelHTTP"), keel("KeelHTTPTransfers"),
            ],
            path: "Tests/KeelTransferUploader"
        ),
        .testTarget(
            name: "KeelTransferPeerTests",
            dependencies: [
                "KeelTransferUploader", keel("KeelAsyncHTTPClient"), keel("KeelCore"),
                keel("KeelHTTP"), keel("KeelHTTPTransfers"), httpTypes,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
            ]
        ),
        .testTarget(
            name: "HarnessProgramsTests",
            dependencies: [
                "AutobahnTestee", "TraceContextService", keel("KeelHTTP"), keel("KeelTestKit"),
                keel("KeelWebSocket"), httpTypes,
            ]
        ),
        .testTarget(
            name: "PostHogHarnessAdapterTests",
            dependencies: [
                "PostHogHarnessAdapter", keel("KeelHTTP"), keel("KeelTestKit"), httpTypes,
            ]
        ),
    ]
)

for target in package.targets where target.type != .plugin {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
