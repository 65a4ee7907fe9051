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

// KeelLocation beside modules that are called as Apple's are: the adapter for CoreLocation and the
// publisher of Combine compile and pass their checks on Linux. The sources are those of the root
// package, by symbolic links, because a target of another package cannot be given a dependency.
let package = Package(
    name: "keel-core-location",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "Combine"),
        .target(name: "CoreLocation"),
        .systemLibrary(name: "CKeelChecksum"),
        .target(
            name: "KeelCore",
            dependencies: ["CKeelChecksum"],
            exclude: ["PrivacyInfo.xcprivacy"]
        ),
        .target(name: "KeelLocation", dependencies: ["Combine", "CoreLocation", "KeelCore"]),
        .target(name: "KeelConformance", dependencies: ["KeelCore", "KeelLocation"]),
        .testTarget(
            name: "CoreLocationTests",
            dependencies: [
                "Combine", "CoreLocation", "KeelConformance", "KeelCore", "KeelLocation",
            ]
        ),
    ]
)

for target in package.targets where target.type != .system { target.swiftSettings = strict }
