package import Foundation

/// Reads a file of any size element by element, keeping no more than one in memory.
///
/// Elements are lines, or what stands between the commas of one array. An array's elements are told
/// apart by counting brackets outside of strings, so that a bad one is a bad element and the ones
/// after it are read.
package struct ElementReader {
    /// How a file holds its elements.
    package enum Container: String, Codable, Sendable {
        /// Each line is one.
        case lines
        /// The file is one array.
        case array
    }

    /// The most bytes of one element; a document of 1 MiB stays below it in either form, whose
    /// smallest values take twenty times the room that they take in a store.
    package static let longest = 32 << 20

    let container: Container
    var state: ArrayState
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    /// Where the buffer begins in the file.
    private var base: Int
    /// The next byte, as an index of the buffer.
    private var position = 0
    private(set) var number: Int

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - container: How it holds its elements.
    ///   - offset: Where to begin: 0, or the end of an element.
    ///   - number: The number of the element that ends there.
    /// - Throws: What opening and seeking throw.
    package init(
        _ file: URL,
        container: Container,
        from offset: Int = 0,
        number: Int = 0
    ) throws {
        self.container = container
        self.number = number
        handle = try FileHandle(forReadingFrom: file)
        try handle.seek(toOffset: UInt64(offset))
        base = offset
        state = offset == 0 ? .beforeArray : .afterElement
        // Some editors begin UTF-8 with a byte order mark.
        if offset == 0, try fill(), buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Where the next element is looked for.
    package var offset: Int { base + position }

    /// The next element, nil at the end.
    ///
    /// - Throws: What reading the file throws.
    package mutating func next() throws -> ImportElement? {
        container == .lines ? try nextLine() : try nextOfArray()
    }

    private mutating func nextLine() throws -> ImportElement? {
        while try peek() != nil {
            number += 1
            let element = try element { byte in byte == UInt8(ascii: "\n") }
            if try peek() != nil { position += 1 }
            if element.flaw != nil || !element.text.isEmpty { return element }
        }
        return nil
    }

    // MARK: Bytes

    /// The next byte, nil at the end of the file.
    mutating func peek() throws -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        return buffer[position]
    }

    mutating func skip() { position += 1 }

    mutating func countElement() { number += 1 }

    /// What stands before the first byte for which `isEnd` holds, or before the end of the file.
    mutating func element(until isEnd: (UInt8) -> Bool) throws -> ImportElement {
        let start = offset
        var length = 0
        var isTooLong = false
        scan: while true {
            while position + length < buffer.count {
                if isEnd(buffer[position + length]) { break scan }
                length += 1
            }
            if length > Self.longest {
                isTooLong = true
                position += length
                length = 0
            }
            guard try fill() else { break }
        }
        let text = buffer[position..<position + length]
        position += length
        let end = offset
        guard !isTooLong else {
            return flawed("is longer than \(Self.longest) bytes", in: start..<end)
        }
        return ImportElement(
            number: number,
            range: start..<end,
            text: Array(text.trimmed),
            flaw: nil
        )
    }

    func flawed(_ flaw: String, in range: Range<Int>) -> ImportElement {
        ImportElement(number: number, range: range, text: [], flaw: flaw)
    }

    /// Appends a piece of the file to the buffer; what was read already is dropped.
    private mutating func fill() throws -> Bool {
        buffer.removeSubrange(..<position)
        base += position
        position = 0
        guard let piece = try handle.read(upToCount: 1 << 18), !piece.isEmpty else { return false }
        buffer += piece
        return true
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without JSON's white space at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isJSONSpace }),
            let last = lastIndex(where: { !$0.isJSONSpace })
        else { return [] }
        return self[first...last]
    }
}

extension UInt8 {
    /// Whether the byte is white space in JSON (RFC 8259 section 2).
    var isJSONSpace: Bool { self == 0x20 || (0x09...0x0A).contains(self) || self == 0x0D }
}
