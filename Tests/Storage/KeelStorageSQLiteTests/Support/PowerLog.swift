#if SQLite
import Foundation

/// The log of the crash writer's `PowerRecorder`: every change of a file, every sync and every acknowledgement, in
/// order.
struct PowerLog {
    struct Record {
        var kind: UInt8
        var file: Int64
        var position: Int64
        var bytes: Range<Int>
    }

    let data: [UInt8]
    let records: [Record]

    init(_ url: URL) throws {
        let data = Array(try Data(contentsOf: url))
        var records: [Record] = []
        var offset = 0
        while offset < data.count {
            let numbers = (0..<3).map { index in
                data.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: offset + 1 + index * 8, as: Int64.self)
                }
            }
            let bytes = offset + 25..<offset + 25 + Int(numbers[2])
            records.append(
                Record(kind: data[offset], file: numbers[0], position: numbers[1], bytes: bytes)
            )
            offset = bytes.upperBound
        }
        (self.data, self.records) = (data, records)
    }
}

/// The files at a moment of a `PowerLog`, with their durable parts.
struct PowerState {
    private struct File {
        var name: String
        var durable: [UInt8] = []
        /// The writes since the last sync, each of which may be on disk in whole or in part.
        var pending: [(index: Int, record: PowerLog.Record)] = []
        var isRemoved = false
    }

    /// The remaining state: all writes, or the result of a power failure.
    enum Ending: CaseIterable {
        case killed, nothingPending, anything
    }

    private let log: PowerLog
    private var index = 0
    private var files: [Int64: File] = [:]
    /// The folder's entries that are on disk.
    private var entries: Set<Int64> = []
    /// The number of the last acknowledged batch.
    private(set) var acknowledged = 0

    init(_ log: PowerLog) { self.log = log }

    /// Advances to a moment, counted in records.
    mutating func advance(to end: Int) {
        while index < end {
            let record = log.records[index]
            index += 1
            switch record.kind {
            case 1:
                let path = String(decoding: log.data[record.bytes], as: UTF8.self)
                files[record.file] = File(name: URL(fileURLWithPath: path).lastPathComponent)
            case 2, 3: files[record.file]?.pending.append((index, record))
            case 4: synchronise(record)
            case 5: entries = Set(files.filter { !$0.value.isRemoved }.keys)
            case 6: files[record.file]?.isRemoved = true
            default: acknowledged = Int(record.position)
            }
        }
    }

    private mutating func synchronise(_ record: PowerLog.Record) {
        guard var file = files[record.file] else { return }
        let covered = file.pending.prefix { $0.index <= record.position }
        for (_, change) in covered { apply(change, to: &file.durable) }
        file.pending.removeFirst(covered.count)
        files[record.file] = file
    }

    private func apply(_ change: PowerLog.Record, to bytes: inout [UInt8], sectors: Set<Int>? = nil)
    {
        let start = Int(change.position)
        if change.kind == 3 {
            if start < bytes.count { bytes.removeLast(bytes.count - start) }
            return
        }
        let end = start + change.bytes.count
        if bytes.count < end {
            bytes.append(contentsOf: repeatElement(0, count: end - bytes.count))
        }
        for sector in start / 512...max(start, end - 1) / 512
        where sectors?.contains(sector) ?? true {
            let part = max(start, sector * 512)..<min(end, sector * 512 + 512)
            let source = change.bytes.lowerBound - start
            bytes.replaceSubrange(
                part,
                with: log.data[part.lowerBound + source..<part.upperBound + source]
            )
        }
    }

    /// Writes the files that remain after an ending to a folder.
    func leave<Random: RandomNumberGenerator>(
        _ ending: Ending,
        in folder: URL,
        using random: inout Random
    ) throws {
        for (id, file) in files.sorted(by: { $0.key < $1.key }) {
            let isThere: Bool
            switch ending {
            case .killed: isThere = !file.isRemoved
            case .nothingPending: isThere = entries.contains(id)
            case .anything:
                let isSettled = entries.contains(id) == !file.isRemoved
                isThere = isSettled ? !file.isRemoved : Bool.random(using: &random)
            }
            // Shared memory is created again.
            guard isThere, !file.name.hasSuffix("-shm") else { continue }
            var bytes = file.durable
            for (_, change) in file.pending {
                switch ending {
                case .killed: apply(change, to: &bytes)
                case .nothingPending: break
                case .anything: applyPart(of: change, to: &bytes, using: &random)
                }
            }
            try Data(bytes).write(to: folder.appending(path: file.name))
        }
    }

    /// Applies a change, none of it, or some of its sectors.
    private func applyPart<Random: RandomNumberGenerator>(
        of change: PowerLog.Record,
        to bytes: inout [UInt8],
        using random: inout Random
    ) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return
        case 1 where change.kind == 2:
            let first = Int(change.position) / 512
            let last = (Int(change.position) + max(1, change.bytes.count) - 1) / 512
            let sectors = (first...last).filter { _ in Bool.random(using: &random) }
            apply(change, to: &bytes, sectors: Set(sectors))
        default: apply(change, to: &bytes)
        }
    }
}
#endif
