internal import KeelCBOR

/// The positions of the fields of one map, found in one pass.
///
/// It is a class because the standard library copies a container for every call.
final class FieldTable {
    private struct Entry {
        var name: Int32
        var length: Int32
        var value: Int32
    }

    let source: DecodingSource
    let offset: Int
    /// Whether keys are field names without conversion.
    let keepsKeys: Bool
    private let entries: [Entry]
    /// Whether names are in order of length, as in a deterministic encoding.
    private let isSorted: Bool

    /// The number of fields up to which a linear search is faster.
    private static let fewest = 24

    init(_ source: DecodingSource, at offset: Int, keepsKeys: Bool) throws {
        self.source = source
        self.offset = offset
        self.keepsKeys = keepsKeys || source.keys == .asIs
        var reader = source.reader(at: offset)
        var entries: [Entry] = []
        var isSorted = true
        do throws(CBORError) {
            guard let count = try reader.readMapHeader() else {
                throw CBORError(.unsupported, at: offset)
            }
            entries.reserveCapacity(count)
            var longest: Int32 = 0
            for _ in 0..<count {
                let name = try reader.readTextRange(validating: false)
                let length = Int32(truncatingIfNeeded: name.count)
                if length < longest { isSorted = false }
                longest = length
                entries.append(
                    Entry(
                        name: Int32(truncatingIfNeeded: name.lowerBound),
                        length: length,
                        value: Int32(truncatingIfNeeded: reader.position)
                    )
                )
                try reader.skip()
            }
        } catch {
            throw source.failure(error, at: offset, wanted: "a map", DocumentFields.self)
        }
        self.entries = entries
        self.isSorted = isSorted
    }

    func find(_ name: String) -> Int? {
        let found = name.utf8.withContiguousStorageIfAvailable { find($0, in: source.reader) }
        if let found { return found }
        // Strings bridged from Foundation on Apple platforms have no contiguous storage.
        return Array(name.utf8).withUnsafeBufferPointer { find($0, in: source.reader) }
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>, in reader: CBORReader) -> Int? {
        reader.bytes.withUnsafeBufferPointer { bytes in
            let length = Int32(truncatingIfNeeded: name.count)
            var index = isSorted && entries.count > Self.fewest ? firstIndex(ofLength: length) : 0
            while index < entries.count {
                let entry = entries[index]
                if entry.length == length {
                    if Self.areEqual(bytes, Int(entry.name), name) { return Int(entry.value) }
                } else if isSorted, entry.length > length {
                    return nil
                }
                index += 1
            }
            return nil
        }
    }

    private func firstIndex(ofLength length: Int32) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].length < length { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Names are too short for `memcmp` to pay off.
    @inline(__always)
    private static func areEqual(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ name: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let stored = UnsafeRawBufferPointer(
            rebasing: UnsafeRawBufferPointer(bytes)[start..<(start + name.count)]
        )
        let wanted = UnsafeRawBufferPointer(name)
        var offset = 0
        while wanted.count - offset >= 8 {
            guard
                stored.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == wanted.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset += 8
        }
        while offset < wanted.count {
            guard stored[offset] == wanted[offset] else { return false }
            offset += 1
        }
        return true
    }

    var names: [String] {
        entries.compactMap { entry in
            source.reader.text(in: Int(entry.name)..<Int(entry.name + entry.length))
        }
    }
}
