package import Foundation

/// The facts of files by the hash of their content, in one file.
///
/// A missing, truncated or outdated cache counts as empty. Entries have no checksum. The file holds the facts that the
/// last run used.
package struct FactCache: Sendable {
    private static let magic: UInt32 = 0x4B4C_4631

    private let file: URL?
    private let data: Data
    private let ranges: [ContentHash: Range<Int>]

    package static let none = FactCache(file: nil, data: Data(), ranges: [:])

    private init(file: URL?, data: Data, ranges: [ContentHash: Range<Int>]) {
        self.file = file
        self.data = data
        self.ranges = ranges
    }

    package init(at file: URL) {
        guard let data = try? Data(contentsOf: file, options: .mappedIfSafe),
            let ranges = data.withUnsafeBytes({ Self.readIndex($0) })
        else {
            self.init(file: file, data: Data(), ranges: [:])
            return
        }
        self.init(file: file, data: data, ranges: ranges)
    }

    private static func readIndex(_ bytes: UnsafeRawBufferPointer) -> [ContentHash: Range<Int>]? {
        guard bytes.count >= 16,
            UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == magic,
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
                == FactCoding.version
        else { return nil }
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard let count = Int(exactly: word(8)), count <= (bytes.count - 16) / 24 else {
            return nil
        }
        var ranges: [ContentHash: Range<Int>] = [:]
        ranges.reserveCapacity(count)
        var start = 16 + count * 24
        for entry in 0..<count {
            let offset = 16 + entry * 24
            guard let length = Int(exactly: word(offset + 16)), length <= bytes.count - start else {
                return nil
            }
            ranges[ContentHash(first: word(offset), second: word(offset + 8))] =
                start..<(start + length)
            start += length
        }
        return start == bytes.count ? ranges : nil
    }

    /// Whether a file is missing, unreadable, empty, or a cache of any version.
    package static func mayReplace(_ file: URL) -> Bool {
        guard let data = try? Data(contentsOf: file, options: .mappedIfSafe), !data.isEmpty else {
            return true
        }
        return withUnsafeBytes(of: magic.littleEndian) { data.starts(with: $0) }
    }

    /// Returns the facts of a content; nil if they are missing or damaged.
    package func facts(for hash: ContentHash) -> SourceFacts? {
        guard let range = ranges[hash] else { return nil }
        return data.withUnsafeBytes { bytes in
            try? FactCoding.facts(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    package var isKept: Bool { file != nil }

    package func holdsOnly(_ hashes: Set<ContentHash>) -> Bool {
        hashes.count == ranges.count && hashes.allSatisfy { ranges[$0] != nil }
    }

    /// Stores the facts of these contents only; those without bytes keep their cached facts.
    ///
    /// Failures are ignored.
    package func keep(_ entries: [ContentHash: [UInt8]]) {
        guard let file else { return }
        if holdsOnly(Set(entries.keys)), entries.values.allSatisfy(\.isEmpty) { return }
        var head: [UInt8] = []
        func append<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { head += $0 }
        }
        append(Self.magic)
        append(FactCoding.version)
        append(UInt64(entries.count))
        var bodies: [UInt8] = []
        data.withUnsafeBytes { old in
            for (hash, encoded) in entries {
                let start = bodies.count
                if encoded.isEmpty, let range = ranges[hash] {
                    bodies += old[range]
                } else {
                    bodies += encoded
                }
                append(hash.first)
                append(hash.second)
                append(UInt64(bodies.count - start))
            }
        }
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        Self.replace(file, with: [head, bodies])
    }

    /// Without syncing: a lost cache costs only time.
    private static func replace(_ file: URL, with pieces: [[UInt8]]) {
        let part = "\(file.path).\(ProcessInfo.processInfo.processIdentifier).part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let isWritten = pieces.allSatisfy { piece in
            piece.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    let count = write(
                        descriptor,
                        bytes.baseAddress.map { $0 + written },
                        bytes.count - written
                    )
                    guard count > 0 else { return false }
                    written += count
                }
                return true
            }
        }
        guard close(descriptor) == 0, isWritten, rename(part, file.path) == 0 else {
            unlink(part)
            return
        }
    }

    /// The cache of a project, in the user's caches folder.
    package static func defaultFile(forProjectAt root: String) -> URL? {
        guard
            let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        else { return nil }
        var path = root
        let hash = path.withUTF8 { ContentHash(UnsafeRawBufferPointer($0)) }
        let name = String(hash.first, radix: 36) + String(hash.second, radix: 36)
        return caches.appending(path: "keel-lint").appending(path: "\(name).facts")
    }
}
