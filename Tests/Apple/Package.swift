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

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// Returns a target with the name of one of Apple's modules that Keel uses.
///
/// The module has another name, and only the targets that depend on it see it under Apple's: a module called Darwin
/// would be found by everything that SwiftPM compiles after it, including third-party code.
func standIn(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: "Apple\(name)", dependencies: dependencies, path: "StandIns/\(name)")
}

/// Returns the settings of a target that imports Apple's modules.
func beside(
    _ standIns: [String]
) -> (dependencies: [Target.Dependency], settings: [SwiftSetting]) {
    let aliases = standIns.flatMap { ["-module-alias", "\($0)=Apple\($0)"] }
    return (
        standIns.map { .target(name: "Apple\($0)") },
        strict + [.define("Logging"), .unsafeFlags(aliases)]
    )
}

/// Returns a module of Keel with its stand-ins.
func keel(
    _ name: String,
    _ dependencies: [Target.Dependency],
    beside standIns: [String] = []
) -> Target {
    let (modules, settings) = beside(standIns)
    return .target(
        name: name,
        dependencies: dependencies + modules,
        exclude: name == "KeelCore" ? ["PrivacyInfo.xcprivacy"] : [],
        swiftSettings: settings
    )
}

/// Returns a test target with the stand-ins that its tests control.
func tests(
    _ name: String,
    _ dependencies: [Target.Dependency],
    beside standIns: [String]
) -> Target {
    let (modules, settings) = beside(standIns)
    return .testTarget(name: name, dependencies: dependencies + modules, swiftSettings: settings)
}

// Keel with stand-ins for Apple's modules, so that the code for Apple's systems is compiled and tested on Linux.
// Documentation/Platforms.md lists this code by file, and the limits of stand-ins.
// The sources are those of the root package, by symbolic links, because a target of another package cannot be given a
// dependency.
let package = Package(
    name: "keel-apple",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        standIn("CFNetwork"),
        standIn("Combine"),
        standIn("CoreData"),
        standIn("CoreLocation"),
        standIn("CryptoKit"),
        standIn("Darwin", ["CKeelAttributes"]),
        standIn("Network"),
        standIn("Security"),
        standIn("SwiftData"),
        standIn("os"),

        .systemLibrary(name: "CKeelAttributes"),
        .systemLibrary(name: "CKeelChecksum"),
        .systemLibrary(name: "CKeelZlib"),
        keel("KeelZlib", ["CKeelZlib"]),
        keel("KeelCore", ["CKeelChecksum"], beside: ["Darwin"]),
        keel("KeelArgon2", ["KeelCore"]),
        keel("KeelCBOR", []),
        keel("KeelDependencies", [], beside: ["Darwin"]),
        keel("KeelJournal", ["KeelCBOR", "KeelCore"]),
        keel("KeelAnalytics", ["KeelCBOR", "KeelCore", "KeelJournal"], beside: ["Darwin"]),
        keel("KeelCache", ["KeelCore"], beside: ["Darwin"]),
        keel("KeelFiles", ["CKeelAttributes", "KeelCBOR", "KeelCore"], beside: ["Darwin"]),
        keel(
            "KeelHTTP",
            ["KeelCore", httpTypes],
            beside: ["CFNetwork", "CryptoKit", "Darwin", "Security"]
        ),
        keel("KeelHTTPAuthentication", ["KeelArgon2", "KeelCore", "KeelHTTP", httpTypes]),
        keel("KeelHTTPCookies", ["KeelHTTP", httpTypes]),
        keel("KeelNetworkStatus", ["KeelCore"], beside: ["Network"]),
        keel("KeelURITemplates", ["KeelHTTP"]),
        keel("KeelWebSocket", ["KeelCore", "KeelHTTP", httpTypes]),
        keel("KeelHTTPCaching", ["KeelCBOR", "KeelCache", "KeelCore", "KeelHTTP", httpTypes]),
        keel(
            "KeelHTTPTransfers",
            ["KeelCore", "KeelHTTP", httpTypes],
            beside: ["CFNetwork", "Darwin"]
        ),
        keel("KeelHTTPCompression", ["KeelHTTP", "KeelZlib", httpTypes]),
        keel("KeelHTTPSecrets", ["KeelCore", "KeelHTTP", "KeelHTTPAuthentication", "KeelSecrets"]),
        keel("KeelLocation", ["KeelCore"], beside: ["Combine", "CoreLocation", "Darwin"]),
        keel("KeelLogging", ["KeelCore", "KeelZlib", logging], beside: ["Darwin", "os"]),
        keel(
            "KeelSecrets",
            ["KeelArgon2", "KeelCBOR", "KeelCore"],
            beside: ["Darwin", "Security"]
        ),
        keel("KeelSecurity", ["KeelArgon2", "KeelCore"]),
        keel("KeelSecurityFiles", ["KeelFiles", "KeelSecurity"]),
        keel("KeelSecuritySecrets", ["KeelCore", "KeelSecrets", "KeelSecurity"]),
        keel("KeelDocuments", ["KeelCBOR", "KeelCore"]),
        keel("KeelStorageAdapting", ["KeelCore", "KeelDocuments"]),
        keel("KeelStorage", ["KeelCore", "KeelDocuments", "KeelStorageAdapting"]),
        keel(
            "KeelStorageFirestore",
            [
                "KeelCBOR", "KeelCore", "KeelHTTP", "KeelHTTPAuthentication",
                "KeelStorageAdapting", httpTypes,
            ]
        ),
        keel("KeelSync", ["KeelCore", "KeelStorage"], beside: ["Darwin"]),
        keel(
            "KeelRepositories",
            [
                "KeelCache", "KeelCore", "KeelHTTP", "KeelNetworkStatus", "KeelStorage", "KeelSync",
                httpTypes,
            ],
            beside: ["CoreData", "SwiftData"]
        ),
        // Without the modules of traits that are disabled here.
        keel(
            "Keel",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelDependencies", "KeelFiles",
                "KeelHTTP", "KeelHTTPAuthentication", "KeelHTTPCaching", "KeelHTTPCookies",
                "KeelHTTPSecrets", "KeelLocation", "KeelLogging", "KeelNetworkStatus",
                "KeelRepositories", "KeelSecrets", "KeelSecurity", "KeelSecurityFiles",
                "KeelSecuritySecrets", "KeelStorage", "KeelStorageFirestore", "KeelSync",
                "KeelURITemplates", "KeelWebSocket", httpTypes, logging,
            ],
            beside: ["Darwin"]
        ),
        keel(
            "KeelTestKit",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP",
                "KeelHTTPCompression", "KeelLocation", "KeelNetworkStatus", "KeelSecrets",
                "KeelStorageAdapting", "KeelWebSocket", httpTypes,
            ]
        ),
        keel(
            "KeelConformance",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP", "KeelLocation",
                "KeelRepositories", "KeelSecrets", "KeelStorage", "KeelTestKit", httpTypes,
            ]
        ),

        keel("KeelToolSupport", ["KeelCore"], beside: ["Darwin"]),

        tests(
            "BackgroundTransferTests",
            ["KeelCore", "KeelHTTP", "KeelHTTPTransfers", "KeelTestKit", httpTypes],
            beside: ["CFNetwork"]
        ),
        tests(
            "CoreLocationTests",
            ["Keel", "KeelConformance", "KeelCore", "KeelLocation"],
            beside: ["Combine", "CoreLocation"]
        ),
        tests(
            "DarwinTests",
            [
                "Keel", "KeelAnalytics", "KeelConformance", "KeelCore", "KeelFiles", "KeelHTTP",
                "KeelLocation", "KeelSync", "KeelToolSupport",
            ],
            beside: ["Darwin", "Network"]
        ),
        tests(
            "DataSourceTests",
            ["KeelConformance", "KeelRepositories"],
            beside: ["CoreData", "SwiftData"]
        ),
        tests("DataSourceExampleTests", ["KeelRepositories"], beside: ["CoreData", "SwiftData"]),
        tests(
            "KeychainTests",
            ["Keel", "KeelConformance", "KeelCore", "KeelSecrets"],
            beside: ["Security"]
        ),
        tests("OSLogTests", ["KeelCore", "KeelLogging", logging], beside: ["os"]),
        tests("URLSessionTests", ["KeelCore", "KeelHTTP", httpTypes], beside: ["Security"]),
    ]
)

// Not all of Apple's classes declare whether they are sendable.
for target in package.targets where target.path?.hasPrefix("StandIns") == true {
    target.swiftSettings = Array(strict.dropLast())
}
