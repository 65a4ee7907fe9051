internal import KeelCore

/// The file that settings are kept in, replaced in one step.
struct SettingsFile: Sendable {
    private static let name = "analytics.settings"
    private static let damagedName = "analytics.settings.damaged"

    private let folder: String
    private let files: any FileSystem

    init(in folder: String, files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    /// What a file holds.
    enum Contents {
        case nothing
        case settings(AnalyticsSettings)
        /// It could not be understood and was set aside under another name.
        case damaged
    }

    /// Reads the settings.
    func read() throws(FileSystemError) -> Contents {
        let path = "\(folder)/\(Self.name)"
        guard try files.size(of: path) != nil else { return .nothing }
        let file = try files.open(path, for: .reading)
        if let settings = AnalyticsSettings(try file.read(at: 0, count: try file.size())) {
            return .settings(settings)
        }
        try files.rename(path, to: "\(folder)/\(Self.damagedName)")
        return .damaged
    }

    /// The settings, without setting anything aside; nil if there are none that can be understood.
    func peek() throws(FileSystemError) -> AnalyticsSettings? {
        let path = "\(folder)/\(Self.name)"
        guard try files.size(of: path) != nil else { return nil }
        let file = try files.open(path, for: .reading)
        return AnalyticsSettings(try file.read(at: 0, count: try file.size()))
    }

    /// Replaces the settings, so that they survive a power failure too if they are to.
    ///
    /// What they replace survives in any case: the bytes are on the disk before they get its name,
    /// because a file system may keep the two steps in another order.
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
