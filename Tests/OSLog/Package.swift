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

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// KeelLogging beside a module that is called as Apple's is: the output for the unified log compiles and
// is tested on Linux. The sources are those of the root package, by symbolic links, because a target of
// another package cannot be given a dependency.
let package = Package(
    name: "keel-os-log",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2")
    ],
    targets: [
        .target(name: "os"),
        .systemLibrary(name: "CKeelZlib"),
        .target(name: "KeelZlib", dependencies: ["CKeelZlib"]),
        .systemLibrary(name: "CKeelChecksum"),
        .target(
            name: "KeelCore",
            dependencies: ["CKeelChecksum"],
            exclude: ["PrivacyInfo.xcprivacy"]
        ),
        .target(name: "KeelLogging", dependencies: ["KeelCore", "KeelZlib", "os", logging]),
        .testTarget(name: "OSLogTests", dependencies: ["KeelCore", "KeelLogging", "os", logging]),
    ]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = strict + [.define("Logging")]
}
