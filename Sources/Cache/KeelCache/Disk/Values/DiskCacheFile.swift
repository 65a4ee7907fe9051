internal import KeelCore
internal import Synchronization

final class DiskCacheFile: CacheFile {
    private struct Chunk: Sendable {
        var number: Int
        var bytes: [UInt8]
    }

    let count: Int
    let reference: LargeValueReference
    let draft: LargeValueDraft?
    private let file: any OpenFile
    private let format: LargeValueFormat
    private let store: DiskStore
    private let last = Mutex<Chunk?>(nil)

    init(
        _ reference: LargeValueReference,
        file: any OpenFile,
        format: LargeValueFormat,
        store: DiskStore,
        draft: LargeValueDraft? = nil
    ) {
        count = reference.byteCount
        self.reference = reference
        self.draft = draft
        self.file = file
        self.format = format
        self.store = store
    }

    func isIn(_ store: DiskStore) -> Bool { self.store === store }

    func read(from offset: Int, upTo length: Int) throws(CacheError) -> [UInt8] {
        guard offset >= 0, length > 0, offset < count else { return [] }
        let end = offset + min(length, count - offset)
        let size = LargeValueFormat.chunkByteCount
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - offset)
        for number in offset / size...(end - 1) / size {
            let chunk = try chunk(number)
            let start = number * size
            bytes += chunk[max(0, offset - start)..<min(chunk.count, end - start)]
        }
        return bytes
    }

    private func chunk(_ number: Int) throws(CacheError) -> [UInt8] {
        if let known = last.withLock({ $0?.number == number ? $0?.bytes : nil }) { return known }
        let isLast = number == LargeValueFormat.chunkCount(of: count) - 1
        let frame: [UInt8]
        do throws(FileSystemError) {
            frame = try file.read(at: format.offset(of: number), count: format.stride)
        } catch {
            throw CacheError(error, "a large value could not be read")
        }
        let size = LargeValueFormat.chunkByteCount
        let expected = isLast ? count - number * size : size
        guard let bytes = format.chunk(frame, number, isLast: isLast), bytes.count == expected
        else {
            store.countDamage()
            throw CacheError(.damaged, "a chunk of a large value is damaged")
        }
        last.withLock { $0 = Chunk(number: number, bytes: bytes) }
        return bytes
    }
}
