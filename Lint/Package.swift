// swift-tools-version: 6.2
import PackageDescription

// The linter of layers. A package of its own, so that nothing else builds swift-syntax; it depends on
// no part of Keel, so that any Swift project can be read with it.

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

let parser: [Target.Dependency] = ["SwiftParser", "SwiftSyntax"].map { name in
    .product(name: name, package: "swift-syntax")
}

let package = Package(
    name: "keel-lint",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "KeelLint", targets: ["KeelLint"]),
        .executable(name: "keel-lint", targets: ["KeelLintCommand"]),
        .executable(name: "keel-lint-bench", targets: ["KeelLintBench"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        // Exactly this minor version: the walker reads raw nodes, which a newer parser may change.
        .package(url: "https://github.com/swiftlang/swift-syntax", .upToNextMinor(from: "603.0.1")),
    ],
    targets: [
        .target(
            name: "KeelLint",
            dependencies: parser + [.product(name: "Yams", package: "Yams")]
        ),
        .executableTarget(
            name: "KeelLintCommand",
            dependencies: [
                "KeelLint", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // What Scripts/bench.sh runs for the group `lint`.
        .executableTarget(name: "KeelLintBench", dependencies: ["KeelLint"] + parser),
        .testTarget(
            name: "KeelLintTests",
            dependencies: ["KeelLint", "KeelLintCommand"],
            exclude: ["Corpus", "Layouts"]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
