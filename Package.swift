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

let package = Package(
    name: "keel",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "KeelCore", targets: ["KeelCore"]),
        .library(name: "KeelTestKit", targets: ["KeelTestKit"]),
    ],
    targets: [
        .target(name: "KeelCore"),
        .target(name: "KeelStorage", dependencies: ["KeelCore"]),
        .target(name: "KeelTestKit", dependencies: ["KeelCore", "KeelStorage"]),
        .testTarget(name: "KeelCoreTests", dependencies: ["KeelCore"]),
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
