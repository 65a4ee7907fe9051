// swift-tools-version: 6.2
import PackageDescription

// What measures Keel: `keel-bench` against named peers, `keel-soak` by failures, for hours if need be.
// Run them through `Scripts/bench.sh` and `Scripts/soak.sh`.

/// The settings of every target: see STYLE in CONTRIBUTING.md.
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

let storage: [Target.Dependency] = [
    .product(name: "KeelStorage", package: "keel"),
    .product(name: "KeelStorageSQLite", package: "keel"),
]

let http: [Target.Dependency] = [
    .product(name: "KeelAsyncHTTPClient", package: "keel"),
    .product(name: "KeelHTTP", package: "keel"),
    .product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "NIOCore", package: "swift-nio"),
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
    dependencies: [
        .package(name: "keel", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
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
            dependencies: storage + http + [.product(name: "GRDB", package: "GRDB.swift")]
        ),
        .executableTarget(
            name: "KeelBenchServer",
            dependencies: ["NIOCore", "NIOHTTP1", "NIOPosix"].map {
                .product(name: $0, package: "swift-nio")
            }
        ),
        .executableTarget(name: "KeelSoak", dependencies: storage),
        .testTarget(name: "CacheSimulationTests", dependencies: ["CacheSimulation"]),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
