internal import KeelCBOR

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DecodingSource {
    /// Decodes a value of any type.
    ///
    /// Types with a native document form are compared one by one, as in ``EncodingFrame/writeNatively(_:at:)``. Each
    /// cast is from a type to itself.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
        if T.self == String.self { return unsafeBitCast(try string(at: offset), to: T.self) }
        if T.self == Date.self {
            return unsafeBitCast(try timestamp(at: offset).date, to: T.self)
        }
        if T.self == Int.self {
            return unsafeBitCast(try integer(Int.self, at: offset), to: T.self)
        }
        if T.self == Double.self { return unsafeBitCast(try double(at: offset), to: T.self) }
        return try decodeRarer(type, at: offset)
    }

    private func decodeRarer<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
        if T.self == [String].self {
            let strings = try elements(at: offset) { source, offset, reader in
                do throws(CBORError) {
                    return try reader.readText()
                } catch {
                    throw source.failure(error, at: offset, wanted: "a string", String.self)
                }
            }
            return unsafeBitCast(strings, to: T.self)
        }
        if T.self == [Int].self {
            return unsafeBitCast(
                try scalars(at: offset) { try $0.integer(Int.self, at: $1) },
                to: T.self
            )
        }
        if T.self == [Double].self {
            return unsafeBitCast(try scalars(at: offset) { try $0.double(at: $1) }, to: T.self)
        }
        if T.self == Timestamp.self { return unsafeBitCast(try timestamp(at: offset), to: T.self) }
        if T.self == Data.self { return unsafeBitCast(Data(try bytes(at: offset)), to: T.self) }
        if T.self == [UInt8].self {
            return unsafeBitCast(Array(try bytes(at: offset)), to: T.self)
        }
        if T.self == URL.self { return unsafeBitCast(try url(at: offset), to: T.self) }
        if T.self == GeoPoint.self { return unsafeBitCast(try geopoint(at: offset), to: T.self) }
        if T.self == VectorValue.self { return unsafeBitCast(try vector(at: offset), to: T.self) }
        if T.self == DocumentPath.self {
            return unsafeBitCast(try reference(at: offset), to: T.self)
        }
        if T.self == DocumentValue.self { return unsafeBitCast(try value(at: offset), to: T.self) }
        if T.self == DocumentFields.self {
            return unsafeBitCast(try fields(at: offset), to: T.self)
        }
        if T.self == Decimal.self { return unsafeBitCast(try decimal(at: offset), to: T.self) }
        let keepsKeys = keys != .asIs && T.self is any StringKeyedDictionary.Type
        return try T(from: ValueDecoder(source: self, offset: offset, keepsKeys: keepsKeys))
    }

    private func scalars<Element>(
        at offset: Int,
        _ read: (DecodingSource, Int) throws -> Element
    ) throws -> [Element] {
        try elements(at: offset) { source, offset, reader in
            let element = try read(source, offset)
            // A readable item can be skipped.
            try? reader.skip()
            return element
        }
    }

    private func url(at offset: Int) throws -> URL {
        guard let url = URL(string: try string(at: offset)) else {
            throw flaw("expected a URL, found another string", at: offset)
        }
        return url
    }

    private func decimal(at offset: Int) throws -> Decimal {
        if let integer = try? integer(Int64.self, at: offset) { return Decimal(integer) }
        let text = try string(at: offset)
        // `Decimal(string:)` ignores characters after a number.
        guard text.utf8.allSatisfy({ "0123456789+-.eENa".utf8.contains($0) }),
            let decimal = Decimal(string: text)
        else { throw flaw("expected a decimal number, found another string", at: offset) }
        return decimal
    }

    private func fields(at offset: Int) throws -> DocumentFields {
        guard case .map(let fields) = try value(at: offset) else {
            throw mismatch(at: offset, wanted: "a map", DocumentFields.self)
        }
        return fields
    }

    private func geopoint(at offset: Int) throws -> GeoPoint {
        guard case .geopoint(let point) = try value(at: offset) else {
            throw mismatch(at: offset, wanted: "a geopoint", GeoPoint.self)
        }
        return point
    }

    private func vector(at offset: Int) throws -> VectorValue {
        guard case .vector(let vector) = try value(at: offset) else {
            throw mismatch(at: offset, wanted: "a vector", VectorValue.self)
        }
        return vector
    }

    private func reference(at offset: Int) throws -> DocumentPath {
        guard case .reference(let path) = try value(at: offset) else {
            throw mismatch(at: offset, wanted: "a reference", DocumentPath.self)
        }
        return path
    }
}
