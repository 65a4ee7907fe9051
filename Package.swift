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
let sqlite: [Target.Dependency] = ["KeelCore", "KeelStorage", "KeelStorageSQLite"]

/// Products of other packages, where a trait is enabled.
func products(_ trait: String, _ products: [(String, String)]) -> [Target.Dependency] {
    products.map { .product(name: $0.0, package: $0.1, condition: .when(traits: [trait])) }
}

/// GRDB, and the system's SQLite that it links: the adapter calls both.
let grdb = products("SQLite", [("GRDB", "GRDB.swift"), ("GRDBSQLite", "GRDB.swift")])

/// The client library of PostgreSQL.
let libpq = Target.Dependency.target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"]))
let libpqPackages: [SystemPackageProvider] = [.apt(["libpq-dev"]), .brew(["libpq"])]

/// Signatures for service accounts, and the less usual ciphers.
let extras = products("Crypto", [("_CryptoExtras", "swift-crypto")])

/// Encryption, hashes and signatures.
let ciphers = products("Crypto", [("Crypto", "swift-crypto")]) + extras

/// Where AsyncHTTPClient is the transport: Apple's systems have URLSession inside KeelHTTP.
let asyncHTTPClient: [Target.Dependency] =
    [
        ("AsyncHTTPClient", "async-http-client"), ("Crypto", "swift-crypto"),
        ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"), ("NIOPosix", "swift-nio"),
        ("NIOHTTP2", "swift-nio-http2"), ("NIOSSL", "swift-nio-ssl"),
    ].map { product, package in
        .product(
            name: product,
            package: package,
            condition: .when(platforms: [.linux, .android, .macOS], traits: ["AsyncHTTPClient"])
        )
    } + [.target(name: "KeelHTTPCompression", condition: .when(traits: ["AsyncHTTPClient"]))]

/// The packages of the trait `Observability`.
let observability = products(
    "Observability",
    [
        ("Logging", "swift-log"), ("Metrics", "swift-metrics"),
        ("Tracing", "swift-distributed-tracing"),
    ]
)

/// The test doubles of these packages.
let observabilityDoubles = products(
    "Observability",
    [
        ("InMemoryLogging", "swift-log"), ("MetricsTestKit", "swift-metrics"),
        ("InMemoryTracing", "swift-distributed-tracing"),
    ]
)

/// swift-log for the handlers, and zlib for their files.
let logging =
    products("Logging", [("Logging", "swift-log")])
    + [.target(name: "KeelZlib", condition: .when(traits: ["Logging"]))]

/// The service group of servers.
let serviceLifecycle = products(
    "ServiceLifecycle",
    [("ServiceLifecycle", "swift-service-lifecycle"), ("UnixSignals", "swift-service-lifecycle")]
)

/// The packages below WebSockets, which AsyncHTTPClient does not have.
let webSocket =
    products(
        "WebSocket",
        [
            ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"), ("NIOPosix", "swift-nio"),
            ("NIOSSL", "swift-nio-ssl"),
        ]
    ) + [.target(name: "CKeelZlib", condition: .when(traits: ["WebSocket"]))]

/// The packages of the server for tests.
let testServer = products(
    "TestServer",
    [
        ("Crypto", "swift-crypto"), ("NIOCore", "swift-nio"), ("NIOHPACK", "swift-nio-http2"),
        ("NIOHTTP1", "swift-nio"), ("NIOHTTP2", "swift-nio-http2"), ("NIOPosix", "swift-nio"),
        ("NIOSSL", "swift-nio-ssl"), ("NIOTLS", "swift-nio"), ("SwiftASN1", "swift-asn1"),
        ("X509", "swift-certificates"),
    ]
)

#if canImport(Darwin)
/// The privacy manifest for Apple's App Store; one file covers all modules.
let (privacy, left): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
/// Other systems do not need it, and a target with resources links all of Foundation.
let (privacy, left): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

/// A library.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies)
}

/// A program that tests start.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/Support/\(name)")
}

/// A library for tests alone.
func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Support/\(name)")
}

/// The tests of the target with this name; they depend on it, on KeelCore and on the doubles.
func tests(of name: String, exclude: [String] = [], _ others: [Target.Dependency]) -> Target {
    let names: Set = [name, "KeelCore", "KeelTestKit", "KeelTestSupport"]
    let dependencies = names.sorted().map { Target.Dependency.target(name: $0) } + others
    return .testTarget(name: name + "Tests", dependencies: dependencies, exclude: exclude)
}

let package = Package(
    name: "keel",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.plugin(name: "keel-lint", targets: ["KeelLintPlugin"])],
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
        .trait(
            name: "ServiceLifecycle",
            description: "Keel in the service group of a server, on swift-service-lifecycle.",
            enabledTraits: ["Logging"]
        ),
        .trait(name: "PostgreSQL", description: "Keeps documents in PostgreSQL, on libpq."),
        .trait(name: "SQLite", description: "Keeps documents in an SQLite file, on GRDB."),
        .trait(name: "TestServer", description: "A server with faults, for tests of HTTP clients."),
        .trait(name: "URLSession", description: "URLSessionTransport on Linux too, to compare."),
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
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Starts an installed linter; nothing of it is built here.
        .plugin(
            name: "KeelLintPlugin",
            capability: .command(
                intent: .custom(verb: "lint", description: "Checks that the layers hold.")
            )
        )
    ]
)

// The libraries of each area, the programs that its tests start, and its tests.
var areas: [String: [Target]] = [:]

areas["Core"] = [
    .target(name: "KeelCore", dependencies: ["CKeelChecksum"], exclude: left, resources: privacy),
    module("KeelArgon2", ["KeelCore"]),
    module("KeelCBOR", []),
    module("KeelZlib", ["CKeelZlib"]),
    .systemLibrary(name: "CKeelChecksum"),
    .systemLibrary(name: "CKeelZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    tests(of: "KeelCore", []),
    tests(of: "KeelArgon2", []),
    tests(of: "KeelCBOR", []),
]

areas["HTTP"] = [
    module("KeelHTTP", ["KeelCore", httpTypes]),
    module("KeelAsyncHTTPClient", ["KeelCore", "KeelHTTP", httpTypes] + asyncHTTPClient),
    module("KeelHTTPAuthentication", ["KeelArgon2", "KeelCore", "KeelHTTP", httpTypes]),
    module("KeelHTTPCaching", ["KeelCBOR", "KeelCache", "KeelCore", "KeelHTTP", httpTypes]),
    module("KeelHTTPCompression", ["KeelHTTP", "KeelZlib", httpTypes]),
    module("KeelHTTPCookies", ["KeelHTTP", httpTypes]),
    module("KeelHTTPObservability", ["KeelCore", "KeelHTTP", httpTypes] + observability),
    module("KeelHTTPSecrets", ["KeelCore", "KeelHTTPAuthentication", "KeelSecrets"]),
    module("KeelHTTPTransfers", ["KeelCore", "KeelHTTP", httpTypes] + ciphers),
    module("KeelNetworkStatus", ["KeelCore"]),
    module("KeelURITemplates", ["KeelHTTP"]),
    module("KeelWebSocket", ["KeelCore", "KeelHTTP", httpTypes]),
    module("KeelWebSocketNIO", ["KeelCore", "KeelWebSocket", httpTypes] + webSocket),
    program("KeelTransferProgram", ["KeelAsyncHTTPClient", "KeelHTTP", "KeelHTTPTransfers"]),
    tests(of: "KeelHTTP", ["KeelHTTPAuthentication", httpTypes]),
    tests(
        of: "KeelAsyncHTTPClient",
        ["KeelConformance", "KeelHTTPAuthentication", "KeelTestServer", httpTypes] + asyncHTTPClient
    ),
    tests(of: "KeelHTTPAuthentication", [httpTypes]),
    tests(
        of: "KeelHTTPCaching",
        [
            "KeelCache", "KeelHTTPAuthentication", "KeelHTTPCompression", "KeelHTTPCookies",
            "KeelZlib", httpTypes,
        ]
    ),
    tests(of: "KeelHTTPCompression", [httpTypes]),
    tests(of: "KeelHTTPCookies", ["KeelHTTPAuthentication", httpTypes]),
    tests(of: "KeelHTTPObservability", [httpTypes] + observability + observabilityDoubles),
    tests(of: "KeelHTTPSecrets", ["KeelSecrets"]),
    tests(
        of: "KeelHTTPTransfers",
        ["KeelAsyncHTTPClient", "KeelTestServer", "KeelTransferProgram", httpTypes] + ciphers
    ),
    tests(of: "KeelNetworkStatus", []),
    tests(of: "KeelURITemplates", [httpTypes]),
    tests(of: "KeelWebSocket", [httpTypes]),
    tests(
        of: "KeelWebSocketNIO",
        exclude: ["Support/echo-server.py"],
        ["KeelHTTPAuthentication", "KeelHTTPCookies", httpTypes] + webSocket
    ),
]

areas["Cache"] = [
    module("KeelCache", ["KeelCore"]),
    program("KeelCacheCrashWriter", ["KeelCache"]),
    tests(of: "KeelCache", ["KeelCacheCrashWriter", "KeelConformance"]),
]

areas["Storage"] = [
    module("KeelDocuments", ["KeelCBOR", "KeelCore"]),
    module("KeelStorageAdapting", ["KeelCore", "KeelDocuments"]),
    module("KeelStorage", ["KeelCore", "KeelDocuments", "KeelStorageAdapting"]),
    module("KeelStorageSQLite", ["KeelCore", "KeelStorageAdapting"] + grdb),
    module("KeelStoragePostgreSQL", ["KeelCore", "KeelStorageAdapting", libpq] + observability),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: libpqPackages),
    module(
        "KeelStorageFirestore",
        [
            "KeelCBOR", "KeelCore", "KeelHTTPAuthentication", "KeelStorageAdapting", httpTypes,
        ] + ciphers
    ),
    module("KeelStorageObservability", ["KeelCore", "KeelStorageAdapting"] + observability),
    module("KeelSync", ["KeelCore", "KeelStorage"]),
    program("KeelStorageCrashWriter", ["KeelStorage", "KeelStorageSQLite"] + grdb),
    program("KeelOutboxCrashWriter", sqlite + ["KeelSync"]),
    tests(of: "KeelDocuments", []),
    tests(of: "KeelStorageAdapting", []),
    tests(of: "KeelStorage", ["KeelConformance"]),
    tests(of: "KeelStorageSQLite", ["KeelStorage", "KeelStorageCrashWriter"] + grdb),
    tests(of: "KeelStoragePostgreSQL", ["KeelConformance", "KeelStorage"] + observabilityDoubles),
    tests(
        of: "KeelStorageFirestore",
        ["KeelAsyncHTTPClient", "KeelConformance", "KeelServing", "KeelStorage"]
            + ["KeelStorageSQLite", httpTypes] + extras
    ),
    tests(of: "KeelStorageObservability", ["KeelStorage"] + observability + observabilityDoubles),
    tests(of: "KeelSync", ["KeelStorage", "KeelStorageSQLite", "KeelOutboxCrashWriter"]),
]

areas["Server"] = [
    module(
        "KeelServing",
        [
            "KeelCore", "KeelHTTP", "KeelHTTPCompression", "KeelStorage", "KeelStorageFirestore",
            httpTypes,
        ]
    ),
    module("KeelServingObservability", ["KeelHTTP", "KeelServing", httpTypes] + observability),
    module(
        "KeelServiceLifecycle",
        [
            "KeelAnalytics", "KeelCache", "KeelHTTP", "KeelLogging", "KeelLoggingOTLP",
            "KeelStorage", "KeelSync", "KeelWebSocket",
        ] + serviceLifecycle
    ),
    program(
        "KeelLifecycleProgram",
        sqlite + ["KeelAnalytics", "KeelServiceLifecycle", "KeelSync"] + serviceLifecycle + logging
    ),
    tests(
        of: "KeelServing",
        ["KeelAsyncHTTPClient", "KeelStorage", "KeelStorageFirestore"]
            + ["KeelStoragePostgreSQL", "KeelStorageSQLite", httpTypes]
    ),
    tests(
        of: "KeelServingObservability",
        [
            "KeelHTTPObservability", "KeelServing", "KeelStorage", "KeelStorageFirestore",
            "KeelStorageObservability", "KeelStorageSQLite", httpTypes,
        ] + observability + observabilityDoubles
    ),
    tests(of: "KeelServiceLifecycle", ["KeelLifecycleProgram"] + serviceLifecycle + logging),
]

areas["Files"] = [
    module("KeelFiles", ["CKeelAttributes", "KeelCBOR", "KeelCore"] + ciphers),
    module("KeelFilesS3", ["KeelCore", "KeelFiles", "KeelHTTP", httpTypes] + ciphers),
    .systemLibrary(name: "CKeelAttributes"),
    program("KeelFileCrashWriter", ["KeelFiles"]),
    program("KeelS3CrashWriter", ["KeelAsyncHTTPClient", "KeelFiles", "KeelFilesS3"]),
    tests(of: "KeelFiles", ["KeelConformance", "KeelFileCrashWriter"]),
    tests(
        of: "KeelFilesS3",
        exclude: ["Support/botocore-signatures.py", "Support/s3-peer.py"],
        ["KeelAsyncHTTPClient", "KeelConformance", "KeelFiles", "KeelS3CrashWriter", httpTypes]
            + ciphers
    ),
]

areas["Security"] = [
    module("KeelSecrets", ["KeelArgon2", "KeelCBOR", "KeelCore"] + ciphers),
    module("KeelSecurity", ["KeelArgon2", "KeelCore"] + ciphers),
    module("KeelSecurityFiles", ["KeelFiles", "KeelSecurity"]),
    module("KeelSecuritySecrets", ["KeelCore", "KeelSecrets", "KeelSecurity"]),
    program("KeelKeysetProgram", ["KeelSecrets", "KeelSecurity", "KeelSecuritySecrets"]),
    program("KeelSecretWriter", ["KeelSecrets"]),
    tests(
        of: "KeelSecrets",
        exclude: ["Support/secret-storage-peer.py"],
        ["KeelConformance", "KeelSecretWriter"] + ciphers
    ),
    tests(
        of: "KeelSecurity",
        exclude: ["Support/security-peer.py"],
        ["KeelCache", "KeelJournal", "KeelStorage", "KeelStorageSQLite"]
    ),
    tests(of: "KeelSecurityFiles", ["KeelConformance", "KeelFiles", "KeelSecurity"]),
    tests(of: "KeelSecuritySecrets", ["KeelKeysetProgram", "KeelSecrets", "KeelSecurity"]),
]

areas["Telemetry"] = [
    module("KeelJournal", ["KeelCBOR", "KeelCore"]),
    module(
        "KeelLogging",
        ["KeelCore"] + logging + products("Observability", [("Metrics", "swift-metrics")])
    ),
    module(
        "KeelLoggingOTLP",
        ["KeelCore", "KeelHTTP", "KeelHTTPCompression", "KeelJournal", "KeelLogging", httpTypes]
            + logging.dropLast()
    ),
    module("KeelAnalytics", ["KeelCBOR", "KeelCore", "KeelJournal"]),
    module(
        "KeelAnalyticsHTTP",
        ["KeelAnalytics", "KeelHTTPAuthentication", "KeelHTTPCompression", httpTypes]
    ),
    program("KeelAnalyticsCrashWriter", ["KeelAnalytics", "KeelJournal"]),
    program("KeelJournalCrashWriter", ["KeelCore", "KeelJournal"]),
    program("KeelLogCrashWriter", ["KeelCore", "KeelLogging"] + logging),
    support("KeelLogSecrets", ["KeelLogging", "KeelTestKit"] + logging),
    tests(of: "KeelJournal", ["KeelJournalCrashWriter"]),
    tests(
        of: "KeelLogging",
        ["KeelLogCrashWriter", "KeelLogSecrets"] + logging + observability + observabilityDoubles
    ),
    tests(
        of: "KeelLoggingOTLP",
        exclude: ["Support/decode-otlp.py"],
        ["KeelJournal", "KeelLogSecrets", "KeelLogging", httpTypes] + logging
    ),
    tests(of: "KeelAnalytics", ["KeelAnalyticsCrashWriter", "KeelConformance", "KeelJournal"]),
    tests(
        of: "KeelAnalyticsHTTP",
        exclude: ["Support/official-clients.py"],
        ["KeelAnalytics", "KeelJournal", "KeelTestServer", httpTypes]
    ),
]

areas["Location"] = [
    module("KeelLocation", ["KeelCore"]),
    tests(of: "KeelLocation", ["KeelConformance"]),
]

areas["App"] = [
    module(
        "Keel",
        [
            "KeelAnalytics", "KeelAsyncHTTPClient", "KeelCache", "KeelCore", "KeelDependencies",
            "KeelFiles", "KeelHTTP", "KeelHTTPAuthentication", "KeelHTTPCaching", "KeelHTTPCookies",
            "KeelHTTPSecrets", "KeelLocation", "KeelLogging", "KeelNetworkStatus",
            "KeelRepositories", "KeelSecrets", "KeelSecurity", "KeelSecurityFiles",
            "KeelSecuritySecrets", "KeelStorage", "KeelStorageFirestore", "KeelStorageSQLite",
            "KeelSync", "KeelURITemplates", "KeelWebSocket", httpTypes,
        ] + logging.dropLast()
    ),
    module(
        "KeelRepositories",
        ["KeelCache", "KeelHTTP", "KeelNetworkStatus", "KeelStorage", "KeelSync", httpTypes]
    ),
    module("KeelDependencies", []),
    tests(
        of: "Keel",
        [
            "KeelAnalyticsHTTP", "KeelConformance", "KeelDependenciesTesting", "KeelFilesS3",
            "KeelHTTPObservability", "KeelHTTPTransfers", "KeelLoggingOTLP", "KeelServiceLifecycle",
            "KeelServing", "KeelTestServer", "KeelWebSocketNIO", httpTypes,
        ] + logging + serviceLifecycle
    ),
    tests(
        of: "KeelRepositories",
        ["KeelCache", "KeelConformance", "KeelStorage", "KeelStorageSQLite", "KeelSync", httpTypes]
    ),
    tests(of: "KeelDependencies", ["KeelDependenciesTesting"]),
]

areas["Testing"] = [
    module(
        "KeelTestKit",
        [
            "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP",
            "KeelHTTPCompression", "KeelLocation", "KeelNetworkStatus", "KeelSecrets",
            "KeelStorageAdapting", "KeelWebSocket", httpTypes,
        ]
    ),
    module(
        "KeelConformance",
        [
            "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP", "KeelLocation",
            "KeelRepositories", "KeelSecrets", "KeelStorage", "KeelTestKit", httpTypes,
        ]
    ),
    module("KeelTestServer", ["KeelTestKit", httpTypes] + testServer),
    module("KeelDependenciesTesting", ["KeelDependencies"]),
    // For Keel's own tests: simulated disks, programs, gates, CBOR as a tree.
    support("KeelTestSupport", ["KeelCBOR", "KeelCore"]),
    tests(
        of: "KeelTestKit",
        ["KeelAnalytics", "KeelCache", "KeelJournal", "KeelLogging", "KeelStorage", httpTypes]
    ),
    tests(
        of: "KeelConformance",
        ["KeelStorage", "KeelStorageFirestore", "KeelStorageObservability"]
            + ["KeelStoragePostgreSQL", "KeelStorageSQLite"]
    ),
    tests(of: "KeelTestServer", ["KeelConformance", httpTypes] + testServer),
    // Templates are for readers to copy, so they see only what Keel's products show.
    .testTarget(
        name: "KeelTemplateTests",
        dependencies: [
            "KeelConformance", "KeelCore", "KeelFiles", "KeelHTTP", "KeelLocation", "KeelSecrets",
            "KeelStorage", httpTypes,
        ],
        packageAccess: false
    ),
]

// Sources/Area/Target and Tests/Area/TargetTests.
for (area, targets) in areas.sorted(by: { $0.key < $1.key }) {
    for target in targets where target.path == nil {
        target.path = "\(target.type == .test ? "Tests" : "Sources")/\(area)/\(target.name)"
    }
    package.targets += targets
}

// Each library is a product of its name, except those that only other libraries or tests use.
package.products += package.targets
    .filter {
        $0.type == .regular && $0.path?.hasPrefix("Sources") == true
            && !["KeelArgon2", "KeelCBOR", "KeelZlib"].contains($0.name)
    }
    .map { .library(name: $0.name, targets: [$0.name]) }

#if os(Linux)
// The views of a guide are compiled beside a stand-in, which only their module knows by SwiftUI's name.
package.targets.append(.target(name: "AppleSwiftUI", path: "Tests/SwiftUI/Sources/SwiftUI"))
for target in package.targets where target.name == "KeelTests" {
    target.dependencies.append("AppleSwiftUI")
    target.swiftSettings = [.unsafeFlags(["-module-alias", "SwiftUI=AppleSwiftUI"])]
}
#endif

for target in package.targets where ![.system, .plugin].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
