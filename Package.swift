// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target; CONTRIBUTING.md says why.
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

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

/// GRDB, and the system's SQLite that it links: the adapter calls both.
let grdb: [Target.Dependency] = ["GRDB", "GRDBSQLite"].map { name in
    .product(name: name, package: "GRDB.swift", condition: .when(traits: ["SQLite"]))
}

/// What signs for service accounts, and has the less usual ciphers.
let crypto = Target.Dependency.product(
    name: "_CryptoExtras",
    package: "swift-crypto",
    condition: .when(traits: ["Crypto"])
)

/// What encrypts, hashes and signs.
let ciphers: [Target.Dependency] = ["Crypto", "_CryptoExtras"].map { name in
    .product(name: name, package: "swift-crypto", condition: .when(traits: ["Crypto"]))
}

/// Where AsyncHTTPClient is the transport: Apple's systems have URLSession inside KeelHTTP.
let asyncHTTPClient: [Target.Dependency] = [
    ("AsyncHTTPClient", "async-http-client"), ("Crypto", "swift-crypto"),
    ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"), ("NIOPosix", "swift-nio"),
    ("NIOHTTP2", "swift-nio-http2"), ("NIOSSL", "swift-nio-ssl"),
].map { product, package in
    .product(
        name: product,
        package: package,
        condition: .when(platforms: [.linux, .android, .macOS], traits: ["AsyncHTTPClient"])
    )
}

/// What observation needs, for those who switch it on.
let observability: [Target.Dependency] = [
    ("Logging", "swift-log"), ("Metrics", "swift-metrics"),
    ("Tracing", "swift-distributed-tracing"),
].map { product, package in
    .product(name: product, package: package, condition: .when(traits: ["Observability"]))
}

/// The doubles that its tests look at.
let observabilityDoubles: [Target.Dependency] = [
    ("InMemoryLogging", "swift-log"), ("MetricsTestKit", "swift-metrics"),
    ("InMemoryTracing", "swift-distributed-tracing"),
].map { product, package in
    .product(name: product, package: package, condition: .when(traits: ["Observability"]))
}

/// The front of logging, for its handlers, and what compresses their files.
let logging: [Target.Dependency] = [
    .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
    .target(name: "KeelZlib", condition: .when(traits: ["Logging"])),
]

/// What WebSockets run on; AsyncHTTPClient has none.
let webSocket: [Target.Dependency] =
    [
        ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"), ("NIOPosix", "swift-nio"),
        ("NIOSSL", "swift-nio-ssl"),
    ].map { product, package in
        .product(name: product, package: package, condition: .when(traits: ["WebSocket"]))
    } + [.target(name: "CKeelZlib", condition: .when(traits: ["WebSocket"]))]

/// What the server for tests is made of.
let testServer: [Target.Dependency] = [
    ("Crypto", "swift-crypto"), ("NIOCore", "swift-nio"), ("NIOHPACK", "swift-nio-http2"),
    ("NIOHTTP1", "swift-nio"), ("NIOHTTP2", "swift-nio-http2"), ("NIOPosix", "swift-nio"),
    ("NIOSSL", "swift-nio-ssl"), ("NIOTLS", "swift-nio"), ("SwiftASN1", "swift-asn1"),
    ("X509", "swift-certificates"),
].map { product, package in
    .product(name: product, package: package, condition: .when(traits: ["TestServer"]))
}

/// A program that tests start.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/Support/\(name)")
}

/// The tests of the target with this name, which they depend on.
func tests(
    of name: String,
    exclude: [String] = [],
    _ others: [Target.Dependency]
) -> Target {
    let dependencies: [Target.Dependency] = [.target(name: name)] + others
    return .testTarget(name: name + "Tests", dependencies: dependencies, exclude: exclude)
}

let package = Package(
    name: "keel",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    // Each of them is a target of the same name.
    products: [
        "Keel", "KeelAnalytics", "KeelAnalyticsHTTP", "KeelAsyncHTTPClient", "KeelCache",
        "KeelConformance", "KeelCore", "KeelDependencies", "KeelDependenciesTesting", "KeelFiles",
        "KeelHTTP", "KeelHTTPCaching", "KeelHTTPCompression", "KeelHTTPObservability",
        "KeelHTTPSecrets", "KeelJournal", "KeelLocation", "KeelLogging", "KeelLoggingOTLP",
        "KeelRepositories", "KeelSecrets", "KeelSecurity", "KeelSecuritySecrets", "KeelServing",
        "KeelServingObservability", "KeelStorage", "KeelStorageFirestore",
        "KeelStorageObservability", "KeelStorageSQLite", "KeelSync", "KeelTestKit",
        "KeelTestServer", "KeelWebSocket",
    ].map { .library(name: $0, targets: [$0]) } + [
        .plugin(name: "keel-lint", targets: ["KeelLintPlugin"])
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "HTTP on AsyncHTTPClient and SwiftNIO."),
        .trait(
            name: "Crypto",
            description: "Encryption, files of secrets and service accounts, on swift-crypto."
        ),
        .trait(name: "Logging", description: "Log handlers, on swift-log."),
        .trait(
            name: "Observability",
            description: "Logs, metrics and traces, on swift-log, -metrics and -tracing.",
            enabledTraits: ["Logging"]
        ),
        .trait(name: "SQLite", description: "Keeps documents in an SQLite file, on GRDB."),
        .trait(name: "TestServer", description: "A server with faults, for tests of HTTP clients."),
        .trait(
            name: "URLSession",
            description: "URLSessionTransport on Linux too, for comparison."
        ),
        .trait(name: "WebSocket", description: "WebSockets on SwiftNIO."),
        .default(enabledTraits: ["AsyncHTTPClient", "Crypto", "SQLite"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // Starts an installed linter; nothing of it is built here.
        .plugin(
            name: "KeelLintPlugin",
            capability: .command(
                intent: .custom(verb: "lint", description: "Checks that the layers hold.")
            )
        ),
        // Words that several areas share.
        .target(name: "KeelCore"),
        .target(name: "KeelDependencies"),
        .target(name: "KeelJournal", dependencies: ["KeelCore"]),
        .target(name: "KeelDependenciesTesting", dependencies: ["KeelDependencies"]),

        // Areas and their adapters.
        .target(name: "KeelAnalytics", dependencies: ["KeelCore", "KeelJournal"]),
        .target(name: "KeelCache", dependencies: ["KeelCore"]),
        .systemLibrary(name: "CKeelAttributes"),
        .target(name: "KeelFiles", dependencies: ["CKeelAttributes", "KeelCore"] + ciphers),
        .target(name: "KeelHTTP", dependencies: ["KeelCore", httpTypes]),
        .systemLibrary(
            name: "CKeelZlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .target(name: "KeelZlib", dependencies: ["CKeelZlib"]),
        .target(name: "KeelHTTPCompression", dependencies: ["KeelHTTP", "KeelZlib", httpTypes]),
        .target(
            name: "KeelHTTPCaching",
            dependencies: ["KeelCache", "KeelCore", "KeelHTTP", httpTypes]
        ),
        .target(
            name: "KeelHTTPObservability",
            dependencies: ["KeelCore", "KeelHTTP", httpTypes] + observability
        ),
        .target(
            name: "KeelLogging",
            dependencies: ["KeelCore"] + logging + [
                .product(
                    name: "Metrics",
                    package: "swift-metrics",
                    condition: .when(traits: ["Observability"])
                )
            ]
        ),
        .target(
            name: "KeelLoggingOTLP",
            dependencies: [
                "KeelCore", "KeelHTTP", "KeelHTTPCompression", "KeelJournal", "KeelLogging",
                httpTypes,
            ] + logging.dropLast()
        ),
        .target(
            name: "KeelWebSocket",
            dependencies: ["KeelCore", "KeelHTTP", httpTypes] + webSocket
        ),
        .target(
            name: "KeelAsyncHTTPClient",
            dependencies: ["KeelCore", "KeelHTTP", httpTypes] + asyncHTTPClient
        ),
        .target(name: "KeelLocation", dependencies: ["KeelCore"]),
        .target(name: "KeelSecrets", dependencies: ["KeelCore"] + ciphers),
        .target(name: "KeelSecurity", dependencies: ["KeelCore"] + ciphers),
        .target(name: "KeelStorage", dependencies: ["KeelCore"]),
        .target(
            name: "KeelStorageFirestore",
            dependencies: ["KeelCore", "KeelHTTP", "KeelStorage", crypto, httpTypes]
        ),
        .target(
            name: "KeelStorageObservability",
            dependencies: ["KeelCore", "KeelStorage"] + observability
        ),
        .target(name: "KeelStorageSQLite", dependencies: ["KeelCore", "KeelStorage"] + grdb),

        // What stands on several areas.
        .target(
            name: "KeelAnalyticsHTTP",
            dependencies: [
                "KeelAnalytics", "KeelCore", "KeelHTTP", "KeelHTTPCompression", httpTypes,
            ]
        ),
        .target(name: "KeelHTTPSecrets", dependencies: ["KeelCore", "KeelHTTP", "KeelSecrets"]),
        .target(
            name: "KeelSecuritySecrets",
            dependencies: ["KeelCore", "KeelSecrets", "KeelSecurity"]
        ),
        .target(name: "KeelSync", dependencies: ["KeelCore", "KeelStorage"]),
        .target(
            name: "KeelRepositories",
            dependencies: ["KeelCore", "KeelHTTP", "KeelStorage", "KeelSync", httpTypes]
        ),

        // What answers requests, without a server of its own.
        .target(
            name: "KeelServing",
            dependencies: [
                "KeelCore", "KeelHTTP", "KeelHTTPCompression", "KeelStorage",
                "KeelStorageFirestore", httpTypes,
            ]
        ),

        .target(
            name: "KeelServingObservability",
            dependencies: ["KeelHTTP", "KeelServing", httpTypes] + observability
        ),

        // The umbrella, and what tests are made with.
        .target(
            name: "Keel",
            dependencies: [
                "KeelAsyncHTTPClient", "KeelCache", "KeelCore", "KeelDependencies", "KeelFiles",
                "KeelHTTP", "KeelHTTPCaching", "KeelHTTPSecrets", "KeelLocation",
                "KeelRepositories", "KeelSecrets", "KeelSecurity", "KeelSecuritySecrets",
                "KeelStorage", "KeelStorageFirestore", "KeelStorageSQLite", "KeelSync",
            ]
        ),
        .target(
            name: "KeelConformance",
            dependencies: [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP", "KeelLocation",
                "KeelSecrets", "KeelStorage", "KeelTestKit", httpTypes,
            ]
        ),
        .target(
            name: "KeelTestKit",
            dependencies: [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP",
                "KeelHTTPCompression", "KeelLocation", "KeelSecrets", "KeelStorage", httpTypes,
            ]
        ),
        .target(name: "KeelTestServer", dependencies: ["KeelTestKit", httpTypes] + testServer),

        // Tests, one target for each target above, and the programs that they start.
        program("KeelAnalyticsCrashWriter", ["KeelAnalytics", "KeelJournal"]),
        program("KeelCacheCrashWriter", ["KeelCache"]),
        program("KeelFileCrashWriter", ["KeelFiles"]),
        program("KeelStorageCrashWriter", ["KeelStorage", "KeelStorageSQLite"]),
        program("KeelJournalCrashWriter", ["KeelCore", "KeelJournal"]),
        program("KeelLogCrashWriter", ["KeelCore", "KeelLogging"] + logging),
        .target(
            name: "KeelLogSecrets",
            dependencies: ["KeelLogging", "KeelTestKit"] + logging,
            path: "Tests/Support/KeelLogSecrets"
        ),
        program(
            "KeelOutboxCrashWriter",
            ["KeelCore", "KeelStorage", "KeelStorageSQLite", "KeelSync"]
        ),
        program("KeelSecretWriter", ["KeelSecrets"]),
        tests(
            of: "KeelAnalytics",
            [
                "KeelAnalyticsCrashWriter", "KeelConformance", "KeelCore", "KeelJournal",
                "KeelTestKit",
            ]
        ),
        tests(
            of: "KeelAnalyticsHTTP",
            exclude: ["Support/official-clients.py"],
            ["KeelAnalytics", "KeelCore", "KeelHTTP", "KeelTestKit", "KeelTestServer", httpTypes]
        ),
        tests(
            of: "KeelAsyncHTTPClient",
            ["KeelConformance", "KeelCore", "KeelHTTP", "KeelTestKit", "KeelTestServer", httpTypes]
                + asyncHTTPClient
        ),
        tests(
            of: "KeelCache",
            ["KeelCacheCrashWriter", "KeelConformance", "KeelCore", "KeelTestKit"]
        ),
        tests(
            of: "KeelConformance",
            [
                "KeelCore", "KeelStorage", "KeelStorageFirestore", "KeelStorageObservability",
                "KeelStorageSQLite", "KeelTestKit",
            ]
        ),
        tests(of: "KeelCore", ["KeelTestKit"]),
        tests(of: "KeelDependencies", ["KeelDependenciesTesting"]),
        tests(
            of: "KeelFiles",
            ["KeelConformance", "KeelCore", "KeelFileCrashWriter", "KeelTestKit"]
        ),
        tests(of: "KeelHTTP", ["KeelCore", "KeelTestKit", httpTypes]),
        tests(
            of: "KeelHTTPCaching",
            ["KeelCache", "KeelCore", "KeelHTTP", "KeelTestKit", httpTypes]
        ),
        tests(of: "KeelHTTPCompression", ["KeelCore", "KeelHTTP", "KeelTestKit", httpTypes]),
        tests(
            of: "KeelHTTPObservability",
            ["KeelCore", "KeelHTTP", "KeelTestKit", httpTypes] + observability
                + observabilityDoubles
        ),
        tests(of: "KeelHTTPSecrets", ["KeelCore", "KeelHTTP", "KeelSecrets", "KeelTestKit"]),
        tests(of: "KeelJournal", ["KeelCore", "KeelJournalCrashWriter", "KeelTestKit"]),
        tests(of: "KeelLocation", ["KeelConformance", "KeelCore", "KeelTestKit"]),
        tests(
            of: "KeelLogging",
            ["KeelCore", "KeelLogCrashWriter", "KeelLogSecrets", "KeelTestKit"] + logging
                + observability + observabilityDoubles
        ),
        tests(
            of: "KeelLoggingOTLP",
            exclude: ["Support/decode-otlp.py"],
            [
                "KeelCore", "KeelHTTP", "KeelJournal", "KeelLogSecrets", "KeelLogging",
                "KeelTestKit", httpTypes,
            ] + logging
        ),
        tests(
            of: "KeelRepositories",
            ["KeelCore", "KeelHTTP", "KeelStorage", "KeelSync", "KeelTestKit", httpTypes]
        ),
        tests(
            of: "KeelSecrets",
            exclude: ["Support/secret-storage-peer.py"],
            ["KeelConformance", "KeelCore", "KeelSecretWriter", "KeelTestKit"] + ciphers
        ),
        tests(
            of: "KeelSecurity",
            exclude: ["Support/security-peer.py"],
            [
                "KeelCache", "KeelCore", "KeelJournal", "KeelStorage", "KeelStorageSQLite",
                "KeelTestKit",
            ]
        ),
        tests(
            of: "KeelSecuritySecrets",
            ["KeelCore", "KeelSecrets", "KeelSecurity", "KeelTestKit"]
        ),
        tests(
            of: "KeelServing",
            [
                "KeelCore", "KeelHTTP", "KeelStorage", "KeelStorageFirestore", "KeelStorageSQLite",
                "KeelTestKit", httpTypes,
            ]
        ),
        tests(
            of: "KeelServingObservability",
            [
                "KeelHTTP", "KeelHTTPObservability", "KeelServing", "KeelStorage",
                "KeelStorageFirestore", "KeelStorageObservability", "KeelStorageSQLite",
                "KeelTestKit", httpTypes,
            ] + observability + observabilityDoubles
        ),
        tests(
            of: "KeelStorageFirestore",
            [
                "KeelConformance", "KeelCore", "KeelHTTP", "KeelServing", "KeelStorage",
                "KeelStorageSQLite", "KeelTestKit", crypto, httpTypes,
            ]
        ),
        tests(of: "KeelStorage", ["KeelConformance", "KeelCore", "KeelTestKit"]),
        tests(
            of: "KeelStorageObservability",
            ["KeelCore", "KeelStorage", "KeelTestKit"] + observability + observabilityDoubles
        ),
        tests(
            of: "KeelStorageSQLite",
            ["KeelCore", "KeelStorage", "KeelStorageCrashWriter", "KeelTestKit"] + grdb
        ),
        tests(
            of: "KeelSync",
            [
                "KeelCore", "KeelOutboxCrashWriter", "KeelStorage", "KeelStorageSQLite",
                "KeelTestKit",
            ]
        ),
        tests(
            of: "KeelTestKit",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelHTTP", "KeelJournal", "KeelLogging",
                "KeelStorage", httpTypes,
            ]
        ),
        tests(
            of: "KeelTestServer",
            ["KeelConformance", "KeelCore", "KeelHTTP", "KeelTestKit", httpTypes] + testServer
        ),
        tests(
            of: "Keel",
            [
                "KeelAnalytics", "KeelDependencies", "KeelDependenciesTesting", "KeelLogging",
                "KeelTestKit", httpTypes,
            ] + logging
        ),
        tests(
            of: "KeelWebSocket",
            exclude: ["Support/echo-server.py"],
            ["KeelCore", "KeelHTTP", "KeelTestKit", httpTypes] + webSocket
        ),
    ]
)

for target in package.targets where ![.system, .plugin].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
