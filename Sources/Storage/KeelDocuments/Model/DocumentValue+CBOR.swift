package import KeelCBOR

/// The CBOR tags of values without a CBOR type of their own.
package enum BodyTag {
    /// Extended time (RFC 9581 section 3).
    package static let time: UInt64 = 1001
    /// Identifier (IANA CBOR tags registry).
    package static let reference: UInt64 = 39
    /// Geographic coordinates (IANA CBOR tags registry).
    package static let geopoint: UInt64 = 103
    /// Array of big-endian doubles (RFC 8746 section 2.1).
    package static let vector: UInt64 = 82
}

extension CBORWriter {
    package mutating func fields(_ fields: DocumentFields) {
        mapHeader(fields.count)
        for field in fields {
            text(field.name)
            value(field.value)
        }
    }

    package mutating func value(_ value: DocumentValue) {
        switch value {
        case .null: null()
        case .boolean(let value): boolean(value)
        case .integer(let value): integer(value)
        case .double(let value): double(value)
        case .timestamp(let value): timestamp(value)
        case .string(let value): text(value)
        case .bytes(let value): byteString(value)
        case .reference(let path):
            tag(BodyTag.reference)
            text(path.string)
        case .geopoint(let point): geopoint(point)
        case .array(let values):
            arrayHeader(values.count)
            for element in values { self.value(element) }
        case .vector(let vector): self.vector(vector)
        case .map(let fields): self.fields(fields)
        }
    }

    package mutating func timestamp(_ time: Timestamp) {
        tag(BodyTag.time)
        let fraction = time.fraction
        mapHeader(fraction == 0 ? 1 : 2)
        integer(1)
        integer(time.seconds)
        if fraction != 0 {
            integer(-6)
            integer(fraction)
        }
    }

    package mutating func geopoint(_ point: GeoPoint) {
        tag(BodyTag.geopoint)
        arrayHeader(2)
        // The sum turns -0 into 0: the points are equal, and equal documents have equal bytes.
        double(point.latitude + 0)
        double(point.longitude + 0)
    }

    package mutating func vector(_ vector: VectorValue) {
        var content: [UInt8] = []
        content.reserveCapacity(8 * vector.elements.count)
        for element in vector.elements {
            // Every NaN becomes the same, as for doubles, so that equal documents have equal bytes.
            let bits = element.isNaN ? Double.nan.bitPattern : element.bitPattern
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                content.append(UInt8(truncatingIfNeeded: bits >> shift))
            }
        }
        tag(BodyTag.vector)
        byteString(content)
    }
}

extension CBORReader {
    package mutating func readFields(depth: Int = 0) throws(CBORError) -> DocumentFields {
        guard depth < Self.deepestValue else { throw CBORError(.nestingTooDeep, at: position) }
        guard let count = try readMapHeader() else {
            throw CBORError(.unsupported, at: position)
        }
        var fields: [DocumentFields.Field] = []
        fields.reserveCapacity(min(count, Self.mostReserved))
        for _ in 0..<count {
            let name = try readText()
            fields.append(DocumentFields.Field(name, try readValue(depth: depth + 1)))
        }
        return DocumentFields(sorted: fields)
    }

    /// The maximum nesting that is decoded: more than any document has, and safe on a thread's stack.
    private static var deepestValue: Int { 64 }
    /// The maximum capacity reserved for a count, which is untrusted input.
    private static var mostReserved: Int { 1_024 }

    package mutating func readValue(depth: Int = 0) throws(CBORError) -> DocumentValue {
        switch try peekKind() {
        case .null:
            try readNull()
            return .null
        case .boolean: return .boolean(try readBoolean())
        case .unsigned, .negative: return .integer(try readInteger())
        case .float: return .double(try readDouble())
        case .text: return .string(try readText())
        case .bytes: return .bytes(try readByteString())
        case .map: return .map(try readFields(depth: depth))
        case .array:
            guard depth < Self.deepestValue else { throw CBORError(.nestingTooDeep, at: position) }
            guard let count = try readArrayHeader() else {
                throw CBORError(.unsupported, at: position)
            }
            var values: [DocumentValue] = []
            values.reserveCapacity(min(count, Self.mostReserved))
            for _ in 0..<count { values.append(try readValue(depth: depth + 1)) }
            return .array(values)
        case .tag: return try readTagged()
        default: throw CBORError(.unsupported, at: position)
        }
    }

    private mutating func readTagged() throws(CBORError) -> DocumentValue {
        let start = position
        switch try readTag() {
        case BodyTag.time: return .timestamp(try readTimestampContent())
        case BodyTag.reference: return .reference(DocumentPath(trusted: try readText()))
        case BodyTag.geopoint: return .geopoint(try readGeoPointContent())
        case BodyTag.vector: return .vector(try readVectorContent())
        default: throw CBORError(.unsupported, at: start)
        }
    }

    package mutating func readTimestampContent() throws(CBORError) -> Timestamp {
        let start = position
        guard let count = try readMapHeader(), (1...2).contains(count), try readInteger() == 1
        else {
            throw CBORError(.unsupported, at: start)
        }
        let seconds = try readInteger()
        var fraction: Int64 = 0
        if count == 2 {
            guard try readInteger() == -6 else { throw CBORError(.unsupported, at: start) }
            fraction = try readInteger()
        }
        let (micro, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        // The earliest second begins below the range of microseconds, so the fraction is added before the range check.
        let sum = Int128(overflow ? Int128(seconds) * 1_000_000 : Int128(micro)) + Int128(fraction)
        guard let microseconds = Int64(exactly: sum) else {
            throw CBORError(.integerOverflow, at: start)
        }
        return Timestamp(microseconds: microseconds)
    }

    package mutating func readGeoPointContent() throws(CBORError) -> GeoPoint {
        let start = position
        guard try readArrayHeader() == 2 else { throw CBORError(.unsupported, at: start) }
        let latitude = try readDouble()
        return GeoPoint(latitude: latitude, longitude: try readDouble())
    }

    package mutating func readVectorContent() throws(CBORError) -> VectorValue {
        let start = position
        let range = try readByteStringRange()
        guard range.count.isMultiple(of: 8) else { throw CBORError(.unsupported, at: start) }
        var elements: [Double] = []
        elements.reserveCapacity(range.count / 8)
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            let bits = bytes[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            elements.append(Double(bitPattern: bits))
        }
        return VectorValue(elements)
    }
}
