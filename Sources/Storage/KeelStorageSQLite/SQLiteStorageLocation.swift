#if SQLite
public import Foundation
internal import KeelStorageAdapting

/// The location of a store's file.
public struct SQLiteStorageLocation: Sendable, Hashable {
    private enum Place: Sendable, Hashable {
        case file(URL)
        case applicationSupport(String)
    }

    private let place: Place

    /// A file at a URL; a missing folder is created.
    public static func file(_ url: URL) -> Self { Self(place: .file(url)) }

    /// A file at a path; a missing folder is created.
    public static func file(_ path: String) -> Self { .file(URL(fileURLWithPath: path)) }

    /// `Store.sqlite` in a folder of the user's application data folder.
    ///
    /// This is `~/Library/Application Support` on Apple platforms, `$XDG_DATA_HOME` or `~/.local/share` on Linux. The
    /// name must not be empty, `.` or `..`, or contain a slash.
    public static func applicationSupport(_ name: String) -> Self {
        Self(place: .applicationSupport(name))
    }

    /// A new file with a unique path in the system's temporary folder.
    ///
    /// The adapter does not remove the file.
    public static func temporary() -> Self {
        let folder = FileManager.default.temporaryDirectory
        return .file(folder.appending(path: "keel-\(UUID().uuidString)/Store.sqlite"))
    }

    func path() throws -> String {
        switch place {
        case .file(let url):
            guard url.isFileURL else {
                throw StorageError(.invalidArgument, "the location of a store must be a file")
            }
            return url.path(percentEncoded: false)
        case .applicationSupport(let name):
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".."
            else {
                throw StorageError(
                    .invalidArgument,
                    "“\(name)” cannot be the name of a folder for a store"
                )
            }
            let base = try FileManager.default.url(
                for: .applicationSupportDirectory,
                in: .userDomainMask,
                appropriateFor: nil,
                create: true
            )
            return base.appending(path: name).appending(path: "Store.sqlite")
                .path(percentEncoded: false)
        }
    }
}
#endif
