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

let package = Package(
    name: "keel",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Keel", targets: ["Keel"]),
        .library(name: "KeelAsyncHTTPClient", targets: ["KeelAsyncHTTPClient"]),
        .library(name: "KeelCache", targets: ["KeelCache"]),
        .library(name: "KeelConformance", targets: ["KeelConformance"]),
        .library(name: "KeelCore", targets: ["KeelCore"]),
        .library(name: "KeelDependencies", targets: ["KeelDependencies"]),
        .library(name: "KeelDependenciesTesting", targets: ["KeelDependenciesTesting"]),
        .library(name: "KeelHTTP", targets: ["KeelHTTP"]),
        .library(name: "KeelHTTPCaching", targets: ["KeelHTTPCaching"]),
        .library(name: "KeelHTTPCompression", targets: ["KeelHTTPCompression"]),
        .library(name: "KeelHTTPObservability", targets: ["KeelHTTPObservability"]),
        .library(name: "KeelRepositories", targets: ["KeelRepositories"]),
        .library(name: "KeelServing", targets: ["KeelServing"]),
        .library(name: "KeelStorage", targets: ["KeelStorage"]),
        .library(name: "KeelStorageObservability", targets: ["KeelStorageObservability"]),
        .library(name: "KeelStorageSQLite", targets: ["KeelStorageSQLite"]),
        .library(name: "KeelSync", targets: ["KeelSync"]),
        .library(name: "KeelTestKit", targets: ["KeelTestKit"]),
        .library(name: "KeelTestServer", targets: ["KeelTestServer"]),
        .library(name: "KeelWebSocket", targets: ["KeelWebSocket"]),
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "HTTP on AsyncHTTPClient and SwiftNIO."),
        .trait(
            name: "Observability",
            description: "Logs, metrics and traces, on swift-log, -metrics and -tracing."
        ),
        .trait(name: "SQLite", description: "Keeps documents in an SQLite file, on GRDB."),
        .trait(name: "TestServer", description: "A server with faults, for tests of HTTP clients."),
        .trait(
            name: "URLSession",
            description: "URLSessionTransport on Linux too, for comparison."
        ),
        .trait(name: "WebSocket", description: "WebSockets on SwiftNIO."),
        .default(enabledTraits: ["AsyncHTTPClient", "SQLite"]),
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
        // Words that several areas share.
        .target(name: "KeelCore"),
        .target(name: "KeelDependencies"),
        .target(name: "KeelDependenciesTesting", dependencies: ["KeelDependencies"]),

        // Areas and their adapters.
        .target(name: "KeelCache", dependencies: ["KeelCore"]),
        .target(name: "KeelHTTP", dependencies: ["KeelCore", httpTypes]),
        .systemLibrary(
            name: "CKeelZlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .target(name: "KeelHTTPCompression", dependencies: ["CKeelZlib", "KeelHTTP", httpTypes]),
        .target(
            name: "KeelHTTPCaching",
            dependencies: ["KeelCache", "KeelCore", "KeelHTTP", httpTypes]
        ),
        .target(
            name: "KeelHTTPObservability",
            dependencies: ["KeelCore", "KeelHTTP", httpTypes] + observability
        ),
        .target(
            name: "KeelWebSocket",
            dependencies: ["KeelCore", "KeelHTTP", httpTypes] + webSocket
        ),
        .target(
            name: "KeelAsyncHTTPClient",
            dependencies: ["KeelCore", "KeelHTTP", httpTypes] + asyncHTTPClient
        ),
        .target(name: "KeelStorage", dependencies: ["KeelCore"]),
        .target(name: "KeelStorageFirestore", dependencies: ["KeelStorage"]),
        .target(
            name: "KeelStorageObservability",
            dependencies: ["KeelCore", "KeelStorage"] + observability
        ),
        .target(name: "KeelStorageSQLite", dependencies: ["KeelCore", "KeelStorage"] + grdb),

        // What stands on several areas.
        .target(name: "KeelSync", dependencies: ["KeelCore", "KeelStorage"]),
        .target(
            name: "KeelRepositories",
            dependencies: ["KeelCore", "KeelHTTP", "KeelStorage", "KeelSync", httpTypes]
        ),

        // What answers requests, without a server of its own.
        .target(name: "KeelServing", dependencies: ["KeelHTTP", httpTypes]),

        // The umbrella, and what tests are made with.
        .target(
            name: "Keel",
            dependencies: [
                "KeelAsyncHTTPClient", "KeelCache", "KeelCore", "KeelDependencies", "KeelHTTP",
                "KeelHTTPCaching", "KeelRepositories", "KeelStorage", "KeelStorageSQLite",
                "KeelSync",
            ]
        ),
        .target(
            name: "KeelConformance",
            dependencies: [
                "KeelCache", "KeelCore", "KeelHTTP", "KeelStorage", "KeelTestKit", httpTypes,
            ]
        ),
        .target(
            name: "KeelTestKit",
            dependencies: ["KeelCache", "KeelCore", "KeelHTTP", "KeelStorage", httpTypes]
        ),
        .target(name: "KeelTestServer", dependencies: ["KeelTestKit", httpTypes] + testServer),

        // Tests, one target for each target above, and the programs that they start.
        .executableTarget(
            name: "KeelCacheCrashWriter",
            dependencies: ["KeelCache"],
            path: "Tests/Support/KeelCacheCrashWriter"
        ),
        .executableTarget(
            name: "KeelStorageCrashWriter",
            dependencies: ["KeelStorage", "KeelStorageSQLite"],
            path: "Tests/Support/KeelStorageCrashWriter"
        ),
        .executableTarget(
            name: "KeelOutboxCrashWriter",
            dependencies: ["KeelCore", "KeelStorage", "KeelStorageSQLite", "KeelSync"],
            path: "Tests/Support/KeelOutboxCrashWriter"
        ),
        .testTarget(
            name: "KeelAsyncHTTPClientTests",
            dependencies: [
                "KeelAsyncHTTPClient", "KeelConformance", "KeelCore", "KeelHTTP", "KeelTestKit",
                "KeelTestServer", httpTypes,
            ] + asyncHTTPClient
        ),
        .testTarget(
            name: "KeelCacheTests",
            dependencies: [
                "KeelCache", "KeelCacheCrashWriter", "KeelConformance", "KeelCore", "KeelTestKit",
            ]
        ),
        .testTarget(
            name: "KeelConformanceTests",
            dependencies: [
                "KeelConformance", "KeelCore", "KeelStorage", "KeelStorageFirestore",
                "KeelStorageObservability", "KeelStorageSQLite", "KeelTestKit",
            ]
        ),
        .testTarget(name: "KeelCoreTests", dependencies: ["KeelCore", "KeelTestKit"]),
        .testTarget(
            name: "KeelDependenciesTests",
            dependencies: ["KeelDependencies", "KeelDependenciesTesting"]
        ),
        .testTarget(
            name: "KeelHTTPTests",
            dependencies: ["KeelCore", "KeelHTTP", "KeelTestKit", httpTypes]
        ),
        .testTarget(
            name: "KeelHTTPCachingTests",
            dependencies: [
                "KeelCache", "KeelCore", "KeelHTTP", "KeelHTTPCaching", "KeelTestKit", httpTypes,
            ]
        ),
        .testTarget(
            name: "KeelHTTPCompressionTests",
            dependencies: [
                "KeelCore", "KeelHTTP", "KeelHTTPCompression", "KeelTestKit", httpTypes,
            ]
        ),
        .testTarget(
            name: "KeelHTTPObservabilityTests",
            dependencies: [
                "KeelCore", "KeelHTTP", "KeelHTTPObservability", "KeelTestKit", httpTypes,
            ] + observability + observabilityDoubles
        ),
        .testTarget(
            name: "KeelRepositoriesTests",
            dependencies: [
                "KeelCore", "KeelHTTP", "KeelRepositories", "KeelStorage", "KeelSync",
                "KeelTestKit", httpTypes,
            ]
        ),
        .testTarget(
            name: "KeelServingTests",
            dependencies: ["KeelHTTP", "KeelServing", "KeelTestKit", httpTypes]
        ),
        .testTarget(
            name: "KeelStorageTests",
            dependencies: ["KeelConformance", "KeelCore", "KeelStorage"]
        ),
        .testTarget(
            name: "KeelStorageObservabilityTests",
            dependencies: ["KeelCore", "KeelStorage", "KeelStorageObservability", "KeelTestKit"]
                + observability + observabilityDoubles
        ),
        .testTarget(
            name: "KeelStorageSQLiteTests",
            dependencies: [
                "KeelCore", "KeelStorage", "KeelStorageCrashWriter", "KeelStorageSQLite",
                "KeelTestKit",
            ] + grdb
        ),
        .testTarget(
            name: "KeelSyncTests",
            dependencies: [
                "KeelCore", "KeelOutboxCrashWriter", "KeelStorage", "KeelStorageSQLite", "KeelSync",
                "KeelTestKit",
            ]
        ),
        .testTarget(
            name: "KeelTestKitTests",
            dependencies: [
                "KeelCache", "KeelCore", "KeelHTTP", "KeelStorage", "KeelTestKit", httpTypes,
            ]
        ),
        .testTarget(
            name: "KeelTestServerTests",
            dependencies: [
                "KeelConformance", "KeelCore", "KeelHTTP", "KeelTestKit", "KeelTestServer",
                httpTypes,
            ] + testServer
        ),
        .testTarget(
            name: "KeelTests",
            dependencies: [
                "Keel", "KeelDependencies", "KeelDependenciesTesting", "KeelTestKit", httpTypes,
            ]
        ),
        .testTarget(
            name: "KeelWebSocketTests",
            dependencies: ["KeelCore", "KeelHTTP", "KeelTestKit", "KeelWebSocket", httpTypes]
                + webSocket,
            exclude: ["Support/echo-server.py"]
        ),
    ]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
