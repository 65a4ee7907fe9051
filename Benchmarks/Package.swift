// swift-tools-version: 6.2
import PackageDescription

// The measuring tools of Keel: `keel-bench` compares it with named peers, `keel-soak` provokes failures, for hours if
// needed.
// Run them through `Scripts/bench.sh` and `Scripts/soak.sh`.

/// The settings of every target; see the style section of CONTRIBUTING.md.
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

let cache: [Target.Dependency] = [
    "CacheSimulation", .product(name: "KeelCache", package: "keel"),
]

let analytics: [Target.Dependency] = [.product(name: "KeelAnalytics", package: "keel")]

let files: [Target.Dependency] = [
    .product(name: "KeelFiles", package: "keel"),
    .product(name: "KeelFilesS3", package: "keel"),
]

// The transport comes with `http`, SwiftNIO with `http` and `server`.
let listen: [Target.Dependency] = [.product(name: "KeelStorageFirestore", package: "keel")]

let logging: [Target.Dependency] = [
    .product(name: "KeelLogging", package: "keel"),
    .product(name: "Logging", package: "swift-log"),
]

let storage: [Target.Dependency] = [
    .product(name: "KeelStorage", package: "keel"),
    .product(name: "KeelStorageAdapting", package: "keel"),
    .product(name: "KeelStorageSQLite", package: "keel"),
]

/// The adapter of PostgreSQL, unless `--disable-default-traits` builds without libpq.
let postgreSQL = Target.Dependency.product(
    name: "KeelStoragePostgreSQL",
    package: "keel",
    condition: .when(traits: ["PostgreSQL"])
)

// KeelCache and NIOPosix come with `cache` and `server`.
let http: [Target.Dependency] = [
    ("KeelAsyncHTTPClient", "keel"), ("KeelHTTP", "keel"), ("KeelHTTPCaching", "keel"),
    ("KeelHTTPTransfers", "keel"), ("KeelTestKit", "keel"), ("KeelWebSocket", "keel"),
    ("KeelWebSocketNIO", "keel"), ("AsyncHTTPClient", "async-http-client"),
    ("Crypto", "swift-crypto"), ("HTTPTypes", "swift-http-types"), ("NIOCore", "swift-nio"),
    ("NIOHTTP1", "swift-nio"), ("NIOWebSocket", "swift-nio"),
].map { .product(name: $0, package: $1) }

let repositories: [Target.Dependency] = [.product(name: "KeelRepositories", package: "keel")]

let security: [Target.Dependency] = [
    .product(name: "KeelCore", package: "keel"),
    .product(name: "KeelSecurity", package: "keel"),
]

let server: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

let package = Package(
    name: "keel-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "cache-simulate", targets: ["CacheSimulate"]),
        .executable(name: "keel-bench", targets: ["KeelBench"]),
        .executable(name: "keel-bench-server", targets: ["KeelBenchServer"]),
        .executable(name: "keel-soak", targets: ["KeelSoak"]),
    ],
    traits: [
        .trait(name: "PostgreSQL", description: "Measures stores in PostgreSQL, on libpq."),
        .default(enabledTraits: ["PostgreSQL"]),
    ],
    dependencies: [
        .package(
            name: "keel",
            path: "..",
            traits: [
                .defaults, "Logging",
                .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                "WebSocket",
            ]
        ),
        // Its program `keel` is started by the server's measures.
        .package(
            name: "keel-tools",
            path: "../Tools",
            traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]
        ),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(name: "CacheSimulate", dependencies: ["CacheSimulation"]),
        .target(
            name: "CacheSimulation",
            dependencies: [.product(name: "KeelCache", package: "keel")]
        ),
        .executableTarget(
            name: "KeelBench",
            dependencies: analytics + cache + files + http + listen + logging + repositories
                + security + server + storage + [
                    .product(name: "GRDB", package: "GRDB.swift"), postgreSQL,
                ],
            exclude: [
                "Files/Peers/files-peer.py", "HTTP/Peers/websocket-echo-client.py",
                "Listen/Peers/firestore-client.py", "Logging/Peers/spdlog-records.cpp",
                "PostgreSQL/Peers/postgresql-peer.c", "Security/Peers/security-peer.py",
            ]
        ),
        .executableTarget(
            name: "KeelBenchServer",
            dependencies: ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket"].map {
                .product(name: $0, package: "swift-nio")
            }
        ),
        .executableTarget(
            name: "KeelSoak",
            dependencies: security + storage,
            exclude: ["password-peer.py"]
        ),
        .testTarget(name: "CacheSimulationTests", dependencies: ["CacheSimulation"]),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
