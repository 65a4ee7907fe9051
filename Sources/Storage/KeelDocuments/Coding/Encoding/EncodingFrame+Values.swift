internal import KeelCBOR

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension EncodingFrame {
    @inline(__always)
    func encodeField<T: Encodable>(_ value: T, forKey key: String) throws {
        let name = try openField(key)
        let index = sink.fields.count - 1
        do {
            guard try writeNatively(value, at: .name(name)) || encode(value, at: .name(name)) else {
                cancelField(index)
                return
            }
        } catch {
            cancelField(index)
            throw error
        }
        closeField()
    }

    @inline(__always)
    func encodeElement<T: Encodable>(_ value: T) throws {
        try openElement()
        let start = sink.position
        let step = Step.index(count - 1)
        do {
            let isWritten = try writeNatively(value, at: step) || encode(value, at: step)
            if !isWritten { cancelElement(from: start) }
        } catch {
            cancelElement(from: start)
            throw error
        }
    }

    func encodeWhole<T: Encodable>(_ value: T) throws {
        try beforeWriting()
        guard case .undecided = shape else { throw flaw(CodingWords.encodedTwice) }
        if try writeNatively(value, at: .root) {
            try becomeValue()
            return
        }
        if sink.context.keys != .asIs { keepsKeys = T.self is any StringKeyedDictionary.Type }
        try value.encode(to: self)
    }

    private func encode<T: Encodable>(_ value: T, at step: Step) throws -> Bool {
        let fields = sink.fields.count
        let frame = EncodingFrame(sink, parent: self, step: step)
        if sink.context.keys != .asIs { frame.keepsKeys = T.self is any StringKeyedDictionary.Type }
        try value.encode(to: frame)
        sink.active = frame.serial
        let isWritten = try frame.finish()
        assert(sink.fields.count == fields)
        sink.active = serial
        return isWritten
    }

    /// Writes a value whose type has a native document form.
    ///
    /// Comparing types takes about a nanosecond each, a conformance lookup fifty. Each cast is from a type to itself.
    ///
    /// - Returns: Whether the type has such a form.
    @inline(__always)
    func writeNatively<T: Encodable>(_ value: T, at step: Step) throws -> Bool {
        if T.self == String.self {
            sink.writer.text(unsafeBitCast(value, to: String.self))
        } else if T.self == Date.self {
            sink.writer.timestamp(Timestamp(unsafeBitCast(value, to: Date.self)))
        } else if T.self == Int.self {
            sink.writer.integer(Int64(unsafeBitCast(value, to: Int.self)))
        } else if T.self == Double.self {
            sink.writer.double(unsafeBitCast(value, to: Double.self))
        } else {
            return try writeRarer(value, at: step)
        }
        return true
    }

    private func writeRarer<T: Encodable>(_ value: T, at step: Step) throws -> Bool {
        if T.self == [String].self {
            let strings = unsafeBitCast(value, to: [String].self)
            try writeArray(of: strings, at: step) { $0.text($1) }
        } else if T.self == [Int].self {
            let integers = unsafeBitCast(value, to: [Int].self)
            try writeArray(of: integers, at: step) { $0.integer(Int64($1)) }
        } else if T.self == [Double].self {
            let doubles = unsafeBitCast(value, to: [Double].self)
            try writeArray(of: doubles, at: step) { $0.double($1) }
        } else if T.self == Timestamp.self {
            sink.writer.timestamp(unsafeBitCast(value, to: Timestamp.self))
        } else if T.self == Data.self {
            sink.writer.byteString(unsafeBitCast(value, to: Data.self))
        } else if T.self == [UInt8].self {
            sink.writer.byteString(unsafeBitCast(value, to: [UInt8].self))
        } else if T.self == URL.self {
            sink.writer.text(unsafeBitCast(value, to: URL.self).absoluteString)
        } else if T.self == GeoPoint.self {
            try write(.geopoint(unsafeBitCast(value, to: GeoPoint.self)), at: step)
        } else if T.self == VectorValue.self {
            try write(.vector(unsafeBitCast(value, to: VectorValue.self)), at: step)
        } else if T.self == DocumentPath.self {
            try write(.reference(unsafeBitCast(value, to: DocumentPath.self)), at: step)
        } else if T.self == DocumentValue.self {
            try write(unsafeBitCast(value, to: DocumentValue.self), at: step)
        } else if T.self == DocumentFields.self {
            try write(.map(unsafeBitCast(value, to: DocumentFields.self)), at: step)
        } else if T.self == Decimal.self {
            sink.writer.text(unsafeBitCast(value, to: Decimal.self).description)
        } else {
            return false
        }
        return true
    }

    private func writeArray<Element>(
        of elements: [Element],
        at step: Step,
        _ write: (inout CBORWriter, Element) -> Void
    ) throws {
        try checkArray(at: step)
        sink.writer.arrayHeader(elements.count)
        for element in elements { write(&sink.writer, element) }
    }

    /// Throws if an array is not allowed at a step; `root` means this frame itself.
    private func checkArray(at step: Step) throws {
        let isWithinArray: Bool
        var depth = depth
        switch step {
        case .root: isWithinArray = isElement
        case .name: (isWithinArray, depth) = (false, depth + 1)
        case .index: (isWithinArray, depth) = (true, depth + 1)
        }
        if isWithinArray { throw flaw(CodingWords.arrayInArray, at: key(of: step)) }
        if depth > Self.deepest { throw flaw(CodingWords.tooDeep, at: key(of: step)) }
    }

    func key(of step: Step) -> DocumentCodingKey? {
        switch step {
        case .root: nil
        case .name(let name): DocumentCodingKey(stringValue: name)
        case .index(let index): DocumentCodingKey(index: index)
        }
    }

    /// Validates a value at every level and writes it.
    private func write(_ value: DocumentValue, at step: Step) throws {
        var isWithinArray = false
        var depth = depth
        switch step {
        case .root: isWithinArray = isElement
        case .name: depth += 1
        case .index: (isWithinArray, depth) = (true, depth + 1)
        }
        if let flaw = value.storageFlaw(depth: depth, isWithinArray: isWithinArray) {
            throw self.flaw(flaw, at: key(of: step), of: DocumentValue.self)
        }
        sink.writer.value(value)
    }
}

extension DocumentValue {
    fileprivate func storageFlaw(depth: Int, isWithinArray: Bool) -> String? {
        switch self {
        case .array(let values):
            if isWithinArray { return CodingWords.arrayInArray }
            if depth > EncodingFrame.deepest { return CodingWords.tooDeep }
            return values.lazy
                .compactMap { $0.storageFlaw(depth: depth + 1, isWithinArray: true) }.first
        case .map(let fields):
            if depth > EncodingFrame.deepest { return CodingWords.tooDeep }
            return fields.lazy.compactMap { field in
                FieldPath(names: [field.name]).flaw
                    ?? (StoredName.isReserved(field.name) ? CodingWords.reservedName : nil)
                    ?? field.value.storageFlaw(depth: depth + 1, isWithinArray: false)
            }.first
        case .geopoint(let point): return point.isValid ? nil : CodingWords.geopoint
        case .vector(let vector): return isWithinArray ? CodingWords.vectorInArray : vector.flaw
        case .reference(let path): return path.flaw
        default: return nil
        }
    }
}
