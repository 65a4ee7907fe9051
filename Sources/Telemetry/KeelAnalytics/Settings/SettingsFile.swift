internal import KeelCore

/// The settings file, replaced atomically.
struct SettingsFile: Sendable {
    private static let name = "analytics.settings"
    private static let damagedName = "analytics.settings.damaged"

    private let folder: String
    private let files: any FileSystem

    init(in folder: String, files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    enum Contents {
        case nothing
        case settings(AnalyticsSettings)
        /// The file was corrupt and was renamed.
        case damaged
    }

    func read() throws(FileSystemError) -> Contents {
        guard let bytes = try bytes() else { return .nothing }
        if let settings = AnalyticsSettings(bytes) { return .settings(settings) }
        try files.rename("\(folder)/\(Self.name)", to: "\(folder)/\(Self.damagedName)")
        return .damaged
    }

    /// Returns the settings without renaming a corrupt file; nil if missing or corrupt.
    func peek() throws(FileSystemError) -> AnalyticsSettings? {
        try bytes().flatMap { AnalyticsSettings($0) }
    }

    private func bytes() throws(FileSystemError) -> [UInt8]? {
        let path = "\(folder)/\(Self.name)"
        guard try files.size(of: path) != nil else { return nil }
        let file = try files.open(path, for: .reading)
        return try file.read(at: 0, count: try file.size())
    }

    /// Replaces the settings.
    ///
    /// A power failure leaves either the old or the new ones: the bytes are synchronized before the
    /// rename, which a file system could otherwise reorder. If `isSynced`, it leaves the new ones.
    func write(_ settings: AnalyticsSettings, isSynced: Bool) throws(FileSystemError) {
        let part = "\(folder)/\(Self.name).part"
        if try files.size(of: part) != nil { try files.remove(part) }
        let file = try files.open(part, for: .creating)
        try file.write(settings.bytes, at: 0)
        try file.sync()
        try files.rename(part, to: "\(folder)/\(Self.name)")
        if isSynced { try files.syncFolder(folder) }
    }
}
