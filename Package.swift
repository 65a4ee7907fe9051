// swift-tools-version: 6.2
import PackageDescription

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

/// What observation needs, for those who switch it on.
let observability: [Target.Dependency] = [
    ("Logging", "swift-log"), ("Metrics", "swift-metrics"),
    ("Tracing", "swift-distributed-tracing"),
].map { name, package in
    .product(name: name, package: package, condition: .when(traits: ["Observability"]))
}

/// The doubles that its tests look at.
let observabilityDoubles: [Target.Dependency] = [
    ("InMemoryLogging", "swift-log"), ("MetricsTestKit", "swift-metrics"),
    ("InMemoryTracing", "swift-distributed-tracing"),
].map { name, package in
    .product(name: name, package: package, condition: .when(traits: ["Observability"]))
}

let package = Package(
    name: "keel",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "KeelCore", targets: ["KeelCore"]),
        .library(name: "KeelStorageObservability", targets: ["KeelStorageObservability"]),
        .library(name: "KeelTestKit", targets: ["KeelTestKit"]),
    ],
    traits: [
        .trait(
            name: "Observability",
            description:
                "Logs, metrics and traces of adapters, on swift-log, -metrics and -tracing."
        )
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(name: "KeelCore"),
        .target(name: "KeelStorage", dependencies: ["KeelCore"]),
        .target(
            name: "KeelStorageObservability",
            dependencies: ["KeelCore", "KeelStorage"] + observability
        ),
        .target(name: "KeelTestKit", dependencies: ["KeelCore", "KeelStorage"]),
        .testTarget(name: "KeelCoreTests", dependencies: ["KeelCore"]),
        .testTarget(
            name: "KeelStorageObservabilityTests",
            dependencies: ["KeelCore", "KeelStorage", "KeelStorageObservability", "KeelTestKit"]
                + observability + observabilityDoubles
        ),
        .testTarget(name: "KeelStorageTests", dependencies: ["KeelStorage", "KeelCore"]),
        .testTarget(
            name: "KeelTestKitTests",
            dependencies: ["KeelCore", "KeelStorage", "KeelTestKit"]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
