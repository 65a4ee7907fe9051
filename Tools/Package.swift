// swift-tools-version: 6.2
import PackageDescription

// The command `keel`, and the server that its handlers run behind. They are a package of their own,
// so that no app resolves a server or a parser of command lines.

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

/// A product of Keel.
func keel(_ product: String) -> Target.Dependency { .product(name: product, package: "keel") }

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle"
)

let package = Package(
    name: "keel-tools",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "keel", targets: ["KeelCLI"])],
    dependencies: [
        .package(name: "keel", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "KeelHummingbird",
            dependencies: [
                keel("KeelHTTP"), keel("KeelServing"), httpTypes, logging, lifecycle,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "KeelCLI",
            dependencies: [
                "KeelHummingbird", keel("KeelAsyncHTTPClient"), keel("KeelCache"),
                keel("KeelHTTP"), keel("KeelHTTPCaching"), keel("KeelServing"), logging, lifecycle,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "KeelToolsTests",
            dependencies: [
                "KeelHummingbird", keel("KeelAsyncHTTPClient"), keel("KeelHTTP"),
                keel("KeelServing"), httpTypes, logging, lifecycle,
            ]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
