#if canImport(Darwin)
import Foundation

/// What a task of a background session is for, as its description tells it to a later process.
struct BackgroundTask: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        case download
        case upload
    }

    let kind: Kind
    /// The file that a download makes or an upload sends, from the user's folder on: where that
    /// folder is may be another place after an update of the app.
    private let file: String
    /// Where a download is from; for an upload, what tells several of one file apart.
    let address: DownloadAddress
    /// The part of the file that an upload sends.
    var piece: UploadPiece?

    init(_ kind: Kind, path: String, address: DownloadAddress) {
        self.kind = kind
        file = Self.abbreviated(path, below: NSHomeDirectory())
        self.address = address
    }

    /// Where the file is in this process.
    var path: String { Self.expanded(file, below: NSHomeDirectory()) }

    /// The text by which a task is told to do the same as one of an earlier process.
    var key: String { kind == .download ? "download \(file)" : "upload \(address.place) \(file)" }

    static func abbreviated(_ path: String, below home: String) -> String {
        path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }

    static func expanded(_ path: String, below home: String) -> String {
        path.hasPrefix("~/") ? home + path.dropFirst() : path
    }

    /// The description of a task; it holds no credential, and of a query a checksum.
    var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always have a JSON form.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Reads a description; nil for one that somebody else has written.
    init?(description: String?) {
        guard let description,
            let task = try? JSONDecoder().decode(Self.self, from: Data(description.utf8))
        else { return nil }
        self = task
    }
}
#endif
