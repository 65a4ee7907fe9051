// swift-tools-version: 6.2
import PackageDescription

/// The settings of the root package.
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
    ]

// KeelSecrets beside a module that is called as Apple's is: the adapter for the Keychain compiles
// and passes its checks on Linux. The sources are those of the root package, by symbolic links,
// because a target of another package cannot be given a dependency.
let package = Package(
    name: "keel-keychain",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "Security"),
        .systemLibrary(name: "CKeelChecksum"),
        .target(
            name: "KeelCore",
            dependencies: ["CKeelChecksum"],
            exclude: ["PrivacyInfo.xcprivacy"]
        ),
        .target(name: "KeelSecrets", dependencies: ["KeelCore", "Security"]),
        .target(name: "KeelConformance", dependencies: ["KeelCore", "KeelSecrets"]),
        .testTarget(
            name: "KeychainTests",
            dependencies: ["KeelConformance", "KeelCore", "KeelSecrets", "Security"]
        ),
    ]
)

for target in package.targets where target.type != .system { target.swiftSettings = strict }
