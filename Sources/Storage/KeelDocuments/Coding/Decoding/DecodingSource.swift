internal import KeelCBOR

/// The bytes and the shared state of one decoding.
///
/// Containers and decoders hold only this object and an offset in the bytes, from which the coding path is computed on
/// demand.
final class DecodingSource {
    let reader: CBORReader
    let keys: DocumentKeyStrategy
    let userInfo: [CodingUserInfoKey: Any]
    /// The document being decoded, if any.
    let path: DocumentPath?
    private var converted = ConvertedKeys()

    init(
        _ bytes: [UInt8],
        keys: DocumentKeyStrategy,
        userInfo: [CodingUserInfoKey: Any],
        path: DocumentPath?
    ) {
        reader = CBORReader(bytes)
        self.keys = keys
        self.userInfo = userInfo
        self.path = path
    }

    func fieldName(_ key: String) -> String { converted.fieldName(key, by: keys) }

    @inline(__always)
    func reader(at offset: Int) -> CBORReader {
        var reader = reader
        reader.position = offset
        return reader
    }

    // MARK: Scalars

    @inline(__always)
    func isNull(at offset: Int) -> Bool {
        var reader = reader(at: offset)
        return reader.readNullIfPresent()
    }

    @inline(__always)
    func string(at offset: Int) throws -> String {
        var reader = reader(at: offset)
        do throws(CBORError) {
            return try reader.readText()
        } catch {
            throw failure(error, at: offset, wanted: "a string", String.self)
        }
    }

    @inline(__always)
    func boolean(at offset: Int) throws -> Bool {
        var reader = reader(at: offset)
        do throws(CBORError) {
            return try reader.readBoolean()
        } catch {
            throw failure(error, at: offset, wanted: "a boolean", Bool.self)
        }
    }

    @inline(__always)
    func double(at offset: Int) throws -> Double {
        var reader = reader(at: offset)
        if let number = try? reader.readDouble() { return number }
        do throws(CBORError) {
            return Double(try reader.readInteger())
        } catch {
            throw failure(error, at: offset, wanted: "a number", Double.self)
        }
    }

    func float(at offset: Int) throws -> Float {
        let number = try double(at: offset)
        let float = Float(number)
        guard float.isFinite || !number.isFinite else {
            throw flaw("the double does not fit Float", at: offset)
        }
        return float
    }

    @inline(__always)
    func integer<I: FixedWidthInteger>(_ type: I.Type, at offset: Int) throws -> I {
        var reader = reader(at: offset)
        do throws(CBORError) {
            if let integer = I(exactly: try reader.readInteger()) { return integer }
        } catch {
            return try integralDouble(type, at: offset, otherwise: error)
        }
        throw flaw("the integer does not fit \(I.self)", at: offset)
    }

    private func integralDouble<I: FixedWidthInteger>(
        _ type: I.Type,
        at offset: Int,
        otherwise error: CBORError
    ) throws -> I {
        var reader = reader(at: offset)
        guard let number = try? reader.readDouble() else {
            throw failure(error, at: offset, wanted: "an integer", type)
        }
        guard let integer = I(exactly: number) else {
            throw flaw(
                "expected an integer, found a double that is not a valid \(I.self)",
                at: offset
            )
        }
        return integer
    }

    func timestamp(at offset: Int) throws -> Timestamp {
        var reader = reader(at: offset)
        do throws(CBORError) {
            if try reader.peekKind() == .tag, try reader.readTag() == BodyTag.time {
                return try reader.readTimestampContent()
            }
        } catch {
            throw failure(error, at: offset, wanted: "a timestamp", Timestamp.self)
        }
        throw mismatch(at: offset, wanted: "a timestamp", Timestamp.self)
    }

    func bytes(at offset: Int) throws -> ArraySlice<UInt8> {
        var reader = reader(at: offset)
        do throws(CBORError) {
            return reader.bytes[try reader.readByteStringRange()]
        } catch {
            throw failure(error, at: offset, wanted: "bytes", [UInt8].self)
        }
    }

    func value(at offset: Int) throws -> DocumentValue {
        var reader = reader(at: offset)
        do throws(CBORError) {
            return try reader.readValue()
        } catch {
            throw failure(error, at: offset, wanted: "a value", DocumentValue.self)
        }
    }

    func elements<Element>(
        at offset: Int,
        _ read: (DecodingSource, Int, inout CBORReader) throws -> Element
    ) throws -> [Element] {
        var reader = try arrayReader(at: offset)
        var elements: [Element] = []
        // The count is untrusted input.
        elements.reserveCapacity(min(reader.count, 1024))
        for _ in 0..<reader.count {
            elements.append(try read(self, reader.rest.position, &reader.rest))
        }
        return elements
    }

    func arrayReader(at offset: Int) throws -> (count: Int, rest: CBORReader) {
        var reader = reader(at: offset)
        do throws(CBORError) {
            guard let count = try reader.readArrayHeader() else {
                throw CBORError(.unsupported, at: offset)
            }
            return (count, reader)
        } catch {
            throw failure(error, at: offset, wanted: "an array", [DocumentValue].self)
        }
    }

    @inline(__always)
    func end(ofItemAt offset: Int) throws -> Int {
        var reader = reader(at: offset)
        do throws(CBORError) {
            try reader.skip()
            return reader.position
        } catch {
            throw failure(error, at: offset, wanted: "a value", DocumentValue.self)
        }
    }
}
