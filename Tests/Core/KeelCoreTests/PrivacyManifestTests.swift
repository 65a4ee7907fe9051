import Foundation
import Testing

/// A test of Apple's privacy manifest, which Xcode takes from the package.
///
/// See https://developer.apple.com/documentation/bundleresources/privacy-manifest-files.
@Suite("Privacy manifest")
struct PrivacyManifestTests {
    /// A category of Apple's required reason APIs, with its uses and the allowed reasons.
    private struct Category: Sendable {
        let name: String
        let uses: [String]
        let reasons: Set<String>
    }

    private static let categories = [
        Category(
            name: "NSPrivacyAccessedAPICategoryFileTimestamp",
            uses: [
                "stat(", "contentModificationDate", "creationDate", ".modificationDate",
                "getattrlist",
            ],
            reasons: ["DDA9.1", "C617.1", "3B52.1", "0A2A.1"]
        ),
        Category(
            name: "NSPrivacyAccessedAPICategorySystemBootTime",
            uses: ["systemUptime", "mach_absolute_time"],
            reasons: ["35F9.1", "8FFB.1", "3D61.1"]
        ),
        Category(
            name: "NSPrivacyAccessedAPICategoryDiskSpace",
            uses: [
                "volumeAvailableCapacity", "volumeTotalCapacity", "systemFreeSize", "systemSize",
                "statfs(", "statvfs(",
            ],
            reasons: ["85F4.1", "E174.1", "7D9E.1", "B728.1"]
        ),
        Category(
            name: "NSPrivacyAccessedAPICategoryActiveKeyboards",
            uses: ["activeInputModes"],
            reasons: ["3EC4.1", "54BD.1"]
        ),
        Category(
            name: "NSPrivacyAccessedAPICategoryUserDefaults",
            uses: ["UserDefaults"],
            reasons: ["CA92.1", "1C8F.1", "C56D.1", "AC6B.1"]
        ),
    ]

    private let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources")

    private func manifest() throws -> [String: Any] {
        let file = sources.appending(path: "Core/KeelCore/PrivacyInfo.xcprivacy")
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: file),
            format: nil
        )
        return try #require(list as? [String: Any])
    }

    /// Returns the declared reasons for each category.
    private func declared() throws -> [String: [String]] {
        let types = try #require(try manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        return try Dictionary(
            uniqueKeysWithValues: types.map { type in
                (
                    try #require(type["NSPrivacyAccessedAPIType"] as? String),
                    try #require(type["NSPrivacyAccessedAPITypeReasons"] as? [String])
                )
            }
        )
    }

    @Test("The manifest declares no tracking and no collected data")
    func tracking() throws {
        let manifest = try manifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [String])?.isEmpty == true)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    }

    @Test("APIs that the sources use, and no others, are declared with one of Apple's reasons")
    func complete() throws {
        // The doubles and checks of the area Testing are never part of an app.
        let files = try #require(FileManager.default.enumerator(atPath: sources.path))
            .compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Testing/") }
        #expect(files.count > 500)
        var text = ""
        for file in files {
            text += try String(contentsOf: sources.appending(path: file), encoding: .utf8)
        }
        let declared = try declared()
        for category in Self.categories {
            let isUsed = category.uses.contains { text.contains($0) }
            #expect(isUsed == (declared[category.name] != nil), "\(category.name)")
            let reasons = Set(declared[category.name] ?? [])
            #expect(reasons.isEmpty == !isUsed, "\(category.name)")
            #expect(reasons.isSubset(of: category.reasons), "\(category.name)")
        }
    }
}
