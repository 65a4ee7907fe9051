/// What a file store can do beyond what all can.
public struct FileStoreCapabilities: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// What was put is there after the process ended.
    public static let persistent = Self(rawValue: 1 << 0)
    /// What was put is there after a power failure.
    public static let survivesPowerFailure = Self(rawValue: 1 << 1)
    /// Attributes and a content type of the app's choice are kept with a file.
    public static let attributes = Self(rawValue: 1 << 2)
    /// Changes of files can be followed, also those of other programs.
    public static let watching = Self(rawValue: 1 << 3)
    /// Conditions hold against other processes too, as far as these use Keel.
    public static let conditionsAcrossProcesses = Self(rawValue: 1 << 4)
    /// Names that differ in upper and lower case alone are two names.
    ///
    /// Where it is missing, the volume of the store takes them for one, and putting a file under
    /// the second name replaces the first.
    public static let distinguishesCase = Self(rawValue: 1 << 5)
    /// A path may be a file, and the folder of other files, at the same time.
    public static let filesBesideFolders = Self(rawValue: 1 << 6)

    /// Putting the same bytes again gives the file another version.
    ///
    /// Where it is missing, a version can be a hash of the bytes, as S3's entity tags are: whoever
    /// expects a version then also takes a file that was changed and changed back.
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
