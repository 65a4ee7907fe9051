internal import KeelCore
internal import Synchronization

final class SettingsFile: Sendable {
    private static let name = "analytics.settings"
    private static let damagedName = "analytics.settings.damaged"
    private static let sharedName = "analytics.shared"
    private static let firstLockName = "analytics.settings.lock"
    /// The maximum time to wait for another process that stores the first settings, in milliseconds.
    private static let patience = 10_000

    private let folder: String
    private let files: any FileSystem
    /// The file that was read last, open so that its identity is not given to another one.
    private let known = Mutex<(any OpenFile)?>(nil)

    init(in folder: String, files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    enum Contents {
        case nothing
        case settings(AnalyticsSettings)
        /// The file was corrupt and was renamed, now or by an earlier launch.
        case damaged
    }

    /// Stores the first settings of a folder, which are then those of all services that open it at the same time.
    func makeFirst(_ settings: () -> AnalyticsSettings) throws(FileSystemError) {
        guard try isNew() else { return }
        let lock = try files.lock("\(folder)/\(Self.firstLockName)", waitingUpTo: Self.patience)
        defer { withExtendedLifetime(lock) {} }
        // Another service may have stored them in the meantime.
        guard try isNew() else { return }
        try write(settings(), isSynced: true)
    }

    private func isNew() throws(FileSystemError) -> Bool {
        for name in [Self.name, Self.damagedName] {
            if try files.size(of: "\(folder)/\(name)") != nil { return false }
        }
        return true
    }

    func read() throws(FileSystemError) -> Contents {
        guard let bytes = try bytes() else {
            // An earlier launch may have ended after it had renamed the file, and before it wrote another one.
            return try files.size(of: "\(folder)/\(Self.damagedName)") == nil ? .nothing : .damaged
        }
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
        let bytes = try file.read(at: 0, count: try file.size())
        known.withLock { $0 = file }
        return bytes
    }

    /// Whether the file is not the one that was read last.
    var hasChanged: Bool {
        known.withLock { $0 }?.isStill(at: "\(folder)/\(Self.name)") != true
    }

    /// Whether services other than the one that delivers have tracked into the folder.
    var isShared: Bool { (try? files.size(of: "\(folder)/\(Self.sharedName)")) != nil }

    /// Notes that another service than the one that delivers tracks into the folder.
    func share() throws(FileSystemError) {
        _ = try files.open("\(folder)/\(Self.sharedName)", for: .appending)
    }

    /// Replaces the settings.
    ///
    /// A power failure leaves either the old or the new ones; if `isSynced`, the new ones.
    func write(_ settings: AnalyticsSettings, isSynced: Bool) throws(FileSystemError) {
        let path = "\(folder)/\(Self.name)"
        try files.replaceFile(path, by: path + ".part", with: settings.bytes, keepsAccess: true)
        if isSynced { try files.syncFolder(folder) }
    }
}
