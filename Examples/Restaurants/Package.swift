// swift-tools-version: 6.2
import PackageDescription

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

/// Returns a product of Keel.
func keel(_ product: String) -> Target.Dependency { .product(name: product, package: "keel") }

// Each layer is a separate module, so that the compiler enforces the direction of dependencies: Presentation → Domain ←
// Data → Keel. Only the composition root imports all of them.
let package = Package(
    name: "restaurants",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        // For the target of an app with screens.
        .library(name: "RestaurantsScreens", targets: ["RestaurantsUI", "RestaurantsViews"]),
        .executable(name: "restaurants", targets: ["RestaurantsApp"]),
        .executable(name: "restaurants-api", targets: ["RestaurantsAPICommand"]),
        .executable(name: "restaurants-demo", targets: ["RestaurantsDemo"]),
    ],
    dependencies: [
        // The traits of the tools and the benchmarks, so that Keel is compiled once for all three; the example itself
        // does not need "WebSocket". The condition always holds: SwiftPM passes a trait with a condition, as the tools
        // have it, to the compiler in another place.
        .package(
            name: "keel",
            path: "../..",
            traits: [
                .defaults, "Logging", "WebSocket",
                .trait(name: "PostgreSQL", condition: .when(traits: ["default"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        // The app.
        .target(name: "RestaurantsDomain"),
        .target(name: "RestaurantsPresentation", dependencies: ["RestaurantsDomain"]),
        // The screens: their models, which are tested on any platform, and their SwiftUI views. The views are empty
        // without SwiftUI; Tests/SwiftUI compiles and shows them with a stand-in.
        .target(
            name: "RestaurantsUI",
            dependencies: ["RestaurantsDomain", keel("KeelDependencies")]
        ),
        .target(
            name: "RestaurantsViews",
            dependencies: ["RestaurantsDomain", "RestaurantsUI"]
        ),
        .target(
            name: "RestaurantsData",
            dependencies: [
                "RestaurantsDomain", keel("KeelAnalytics"), keel("KeelAnalyticsHTTP"),
                keel("KeelCore"), keel("KeelHTTP"), keel("KeelHTTPAuthentication"),
                keel("KeelHTTPSecrets"), keel("KeelLocation"), keel("KeelRepositories"),
                keel("KeelSecrets"), keel("KeelStorage"), keel("KeelSync"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(
            name: "RestaurantsApp",
            dependencies: [
                "RestaurantsDomain", "RestaurantsPresentation", "RestaurantsData",
                keel("Keel"), keel("KeelDependencies"), keel("KeelHTTP"), keel("KeelLogging"),
                keel("KeelStoragePostgreSQL"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        // The service that the app calls. It shares only the JSON format with the app.
        .target(
            name: "RestaurantsAPI",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(name: "RestaurantsAPICommand", dependencies: ["RestaurantsAPI"]),

        // The demonstration, which runs the service and two instances of the app and checks them.
        .executableTarget(name: "RestaurantsDemo"),

        .testTarget(
            name: "RestaurantsTests",
            dependencies: [
                "RestaurantsAPI", "RestaurantsData", "RestaurantsDemo", "RestaurantsDomain",
                "RestaurantsPresentation", "RestaurantsUI", keel("Keel"), keel("KeelDependencies"),
                keel("KeelHTTP"), keel("KeelLocation"), keel("KeelRepositories"),
                keel("KeelSecrets"), keel("KeelStorage"), keel("KeelStorageSQLite"),
                keel("KeelSync"), keel("KeelTestKit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
