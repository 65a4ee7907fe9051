/// The optional capabilities of a file store.
public struct FileStoreCapabilities: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Files survive the end of the process.
    public static let persistent = Self(rawValue: 1 << 0)
    /// Files survive a power failure.
    public static let survivesPowerFailure = Self(rawValue: 1 << 1)
    /// Files can have custom attributes and content types.
    public static let attributes = Self(rawValue: 1 << 2)
    /// Changes of files can be observed.
    public static let watching = Self(rawValue: 1 << 3)
    /// Conditions also hold against other processes that use Keel.
    public static let conditionsAcrossProcesses = Self(rawValue: 1 << 4)
    /// Names that differ only in case are distinct.
    ///
    /// Without this capability, the store's volume treats them as equal: writing a file under the second name replaces
    /// the first.
    public static let distinguishesCase = Self(rawValue: 1 << 5)
    /// A path may be both a file and a folder of other files.
    public static let filesBesideFolders = Self(rawValue: 1 << 6)

    /// Each write gives the file a new version, even if the bytes are the same.
    ///
    /// Without this capability, a version can be a hash of the bytes, like the entity tags of S3: a condition on a
    /// version then also accepts a file that was changed and changed back.
    public static let distinctVersions = Self(rawValue: 1 << 7)

    private static let names: [(Self, String)] = [
        (.persistent, "persistent"), (.survivesPowerFailure, "survivesPowerFailure"),
        (.attributes, "attributes"), (.watching, "watching"),
        (.conditionsAcrossProcesses, "conditionsAcrossProcesses"),
        (.distinguishesCase, "distinguishesCase"), (.filesBesideFolders, "filesBesideFolders"),
        (.distinctVersions, "distinctVersions"),
    ]

    /// The names of the capabilities.
    public var description: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
