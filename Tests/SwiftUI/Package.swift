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

// The example's screens with a stand-in for SwiftUI, so that the views compile on Linux, and their contents are tested.
// The sources are those of the example and of the root package, by symbolic links, because a target of another package
// cannot be given a dependency.
let package = Package(
    name: "keel-swift-ui",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "SwiftUI"),
        .target(name: "KeelDependencies", exclude: ["KeelDependencies.docc"]),
        .target(name: "RestaurantsDomain"),
        .target(name: "RestaurantsUI", dependencies: ["KeelDependencies", "RestaurantsDomain"]),
        .target(
            name: "RestaurantsViews",
            dependencies: ["RestaurantsDomain", "RestaurantsUI", "SwiftUI"]
        ),
        .testTarget(
            name: "SwiftUITests",
            dependencies: [
                "KeelDependencies", "RestaurantsDomain", "RestaurantsUI", "RestaurantsViews",
                "SwiftUI",
            ]
        ),
    ]
)

for target in package.targets { target.swiftSettings = strict }
