#if Logging

internal import KeelCore

/// The fields of a line as encoded JSON, kept in the order of their names.
///
/// Names must be ASCII, whose order is that of their bytes. Insertion is linear, which suits the few fields of a
/// statement. `@unchecked` because of the pointer: the memory is owned exclusively.
struct FieldPieces: ~Copyable, @unchecked Sendable {
    private struct Piece {
        /// The first eight bytes of the name, zero-padded: one comparison tells most names apart.
        var key: UInt64
        /// The start of the piece, `"name":value`.
        var start: Int
        var nameLength: Int
        var end: Int
    }

    private static let limit = 32

    private var text = LineBuffer()
    private let pieces = UnsafeMutablePointer<Piece>.allocate(capacity: limit)
    private var count = 0

    init() {}

    deinit { pieces.deallocate() }

    var isEmpty: Bool { count == 0 }

    mutating func removeAll() {
        text.removeAll()
        count = 0
    }

    /// Adds a field whose name has no characters to escape, replacing an earlier one, and returns whether there was
    /// room.
    mutating func add(
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard count < Self.limit else { return false }
        let start = text.count
        text.append(plainName: name)
        text.append(json: value)
        insert(
            Piece(
                key: name.firstWord.byteSwapped,
                start: start,
                nameLength: name.count,
                end: text.count
            )
        )
        return true
    }

    mutating func append(to line: inout LineBuffer) {
        var separator = UInt8(ascii: "{")
        let bytes = text.bytes
        for index in 0..<count {
            let piece = pieces[index]
            line.append(separator)
            separator = UInt8(ascii: ",")
            line.append(UnsafeRawBufferPointer(rebasing: bytes[piece.start..<piece.end]))
        }
        line.append(UInt8(ascii: "}"))
    }

    // MARK: Order

    private mutating func insert(_ piece: Piece) {
        var place = count
        while place > 0 {
            let other = pieces[place - 1]
            let difference = compare(piece, other)
            if difference == 0 {
                // Undoes the shift: the new piece replaces the one with the same name.
                var index = place
                while index < count {
                    pieces[index] = pieces[index + 1]
                    index += 1
                }
                pieces[place - 1] = piece
                return
            }
            if difference > 0 { break }
            pieces[place] = other
            place -= 1
        }
        pieces[place] = piece
        count += 1
    }

    private func compare(_ one: Piece, _ other: Piece) -> Int {
        if one.key != other.key { return one.key < other.key ? -1 : 1 }
        let bytes = text.bytes
        var index = 8
        while index < min(one.nameLength, other.nameLength) {
            let difference =
                Int(bytes[one.start + 1 + index]) - Int(bytes[other.start + 1 + index])
            if difference != 0 { return difference }
            index += 1
        }
        return one.nameLength - other.nameLength
    }
}

#endif
