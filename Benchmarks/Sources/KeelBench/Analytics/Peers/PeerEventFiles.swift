import Foundation

/// Events in files, one each: made, written and closed, under the final name.
///
/// A careful app would write beside it and rename, so that nobody finds half an event; that costs
/// more and is left out.
struct PeerEventFiles {
    let folder: String

    func append(_ bytes: Data, _ number: Int) throws {
        let descriptor = open("\(folder)/\(number).json", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw Flaw("An event's file could not be made.") }
        defer { close(descriptor) }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw Flaw("An event was not written.") }
    }
}
