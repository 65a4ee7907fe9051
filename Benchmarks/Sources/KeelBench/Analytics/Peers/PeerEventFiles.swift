import Foundation

/// Events in separate files, each created, written and closed.
///
/// Without renaming, this is the fastest way: a process that is killed in between leaves an empty file, which a reader
/// must distinguish from an event. With renaming, as in a careful app, no partial event is visible, as in Keel's
/// journal.
struct PeerEventFiles {
    let folder: String
    /// Whether an event is written to a temporary file and renamed.
    let renames: Bool

    func append(_ bytes: Data, _ number: Int) throws {
        let path = "\(folder)/\(number).json"
        let first = renames ? path + ".new" : path
        let descriptor = open(first, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw Flaw("An event's file could not be made.") }
        defer { close(descriptor) }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw Flaw("An event was not written.") }
        guard !renames || rename(first, path) == 0 else {
            throw Flaw("An event's file could not be renamed.")
        }
    }
}
