internal import KeelCore

/// The number of records that a consumer has lost to the bounds, in a file of its own.
///
/// The first line is a number. Each further line has a segment about to be removed, by number and id in hexadecimal,
/// and the number of its lost records. The line counts once the segment is gone, so that a crash in between counts
/// nothing twice. All calls require the folder's lock.
struct LostRecords {
    private struct Removal {
        var segment: UInt64
        var id: UInt64
        var count: Int
    }

    private let name: String
    private let folder: JournalFolder
    private var settled = 0
    private var removals: [Removal] = []

    init(of name: String, in folder: JournalFolder) throws(FileSystemError) {
        self.name = name + JournalFolder.lostSuffix
        self.folder = folder
        let bytes = try folder.contents(of: self.name) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        settled = lines.first.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ")
            guard parts.count == 3, let segment = UInt64(parts[0], radix: 16),
                let id = UInt64(parts[1], radix: 16), let count = Int(parts[2])
            else { continue }
            removals.append(Removal(segment: segment, id: id, count: count))
        }
    }

    func count() throws(FileSystemError) -> Int {
        var count = settled
        for removal in removals where try !isThere(removal) { count += removal.count }
        return count
    }

    private func isThere(_ removal: Removal) throws(FileSystemError) -> Bool {
        try folder.scanner(of: removal.segment)?.header.id == removal.id
    }

    /// Adds records that are lost once a segment is gone; ``store(isSynced:)`` writes the file.
    mutating func add(_ count: Int, of segment: UInt64) throws(FileSystemError) {
        guard let id = try folder.scanner(of: segment)?.header.id else { return }
        var kept: [Removal] = []
        for removal in removals where removal.segment != segment || removal.id != id {
            if try isThere(removal) { kept.append(removal) } else { settled += removal.count }
        }
        removals = kept + [Removal(segment: segment, id: id, count: count)]
    }

    func store(isSynced: Bool) throws(FileSystemError) {
        let lines = removals.map { removal in
            let (segment, id) = (
                String(removal.segment, radix: 16), String(removal.id, radix: 16)
            )
            return "\n\(segment) \(id) \(removal.count)"
        }
        let text = "\(settled)" + lines.joined()
        try folder.replace(name, with: Array(text.utf8), isSynced: isSynced)
    }
}
