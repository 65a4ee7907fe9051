/// Encodes facts for the cache: a table of texts, then numbers.
package enum FactCoding {
    /// Increment it when the format or the extracted facts change.
    package static let version: UInt32 = 5

    private struct Writer {
        var bytes: [UInt8] = []
        var texts = TextTable(minimumCapacity: 128)

        mutating func number(_ value: Int) { Self.append(value, to: &bytes) }

        static func append(_ value: Int, to bytes: inout [UInt8]) {
            var rest = UInt64(bitPattern: Int64(value))
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }

        mutating func text(_ value: String) {
            number(texts.number(of: value).number)
        }

        mutating func place(_ place: SourcePlace) {
            number(Int(place.line))
            number(Int(place.column))
        }
    }

    package static func bytes(of facts: SourceFacts) -> [UInt8] {
        var writer = Writer()
        writer.number(facts.notes.count)
        for note in facts.notes {
            writer.number(Int(note.remark.rawValue))
            writer.place(note.place)
        }
        writer.number(facts.imports.count)
        for fact in facts.imports {
            writer.text(fact.module)
            writer.text(fact.path)
            writer.text(fact.kind)
            writer.number(fact.access.map { Int($0.rawValue) + 1 } ?? 0)
            writer.number(Int(fact.attributes.rawValue))
            writer.number(fact.isConditional ? 1 : 0)
            writer.place(fact.place)
        }
        writer.number(facts.declarations.count)
        for fact in facts.declarations {
            writer.number(Int(fact.kind.rawValue))
            writer.text(fact.name)
            writer.number(Int(fact.parent) + 1)
            writer.number(Int(fact.access.rawValue))
            writer.number(Int(fact.traits.rawValue))
            writer.place(fact.place)
        }
        writer.number(facts.references.count)
        for fact in facts.references {
            writer.text(fact.path)
            writer.number(Int(fact.context.rawValue))
            writer.text(fact.call)
            writer.number(Int(fact.declaration) + 1)
            writer.place(fact.place)
        }
        writer.number(facts.occurrences.count)
        for fact in facts.occurrences {
            writer.number(Int(fact.kind.rawValue))
            writer.text(fact.name)
            writer.text(fact.detail)
            writer.number(Int(fact.declaration) + 1)
            writer.place(fact.place)
        }
        writer.number(facts.allows.count)
        for fact in facts.allows {
            writer.number(fact.rules.count)
            for rule in fact.rules { writer.text(rule) }
            writer.text(fact.reason)
            writer.number(Int(fact.line))
            writer.number(Int(fact.lastLine))
            writer.number(fact.isForFile ? 1 : 0)
            writer.place(fact.place)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(writer.bytes.count + writer.texts.byteCount + 16)
        Writer.append(writer.texts.count, to: &bytes)
        writer.texts.visitAll { text in
            Writer.append(text.count, to: &bytes)
            bytes.append(contentsOf: text)
        }
        bytes.append(contentsOf: writer.bytes)
        return bytes
    }

    /// The bytes are not valid facts; the file is then parsed again.
    package struct Damage: Error {}

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var position = 0
        var texts: [String] = []

        mutating func number() throws -> Int {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while true {
                guard position < bytes.count, shift < 64 else { throw Damage() }
                let byte = bytes[position]
                position += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { break }
                shift += 7
            }
            return Int(truncatingIfNeeded: Int64(bitPattern: value))
        }

        /// A number of items of at least a byte each.
        mutating func count() throws -> Int {
            let count = try number()
            guard count >= 0, count <= bytes.count - position else { throw Damage() }
            return count
        }

        mutating func readTexts() throws {
            let count = try count()
            texts.reserveCapacity(count)
            for _ in 0..<count {
                let length = try self.count()
                texts.append(
                    String(decoding: bytes[position..<(position + length)], as: UTF8.self)
                )
                position += length
            }
        }

        mutating func text() throws -> String {
            let index = try number()
            guard texts.indices.contains(index) else { throw Damage() }
            return texts[index]
        }

        mutating func int32() throws -> Int32 {
            guard let value = Int32(exactly: try number()) else { throw Damage() }
            return value
        }

        mutating func place() throws -> SourcePlace {
            SourcePlace(line: try int32(), column: try int32())
        }

        mutating func byte() throws -> UInt8 {
            guard let value = UInt8(exactly: try number()) else { throw Damage() }
            return value
        }

        mutating func raw<Value: RawRepresentable>(_: Value.Type) throws -> Value
        where Value.RawValue == UInt8 {
            guard let value = Value(rawValue: try byte()) else { throw Damage() }
            return value
        }

        mutating func list<Element>(_ element: (inout Self) throws -> Element) throws -> [Element] {
            let count = try count()
            var list: [Element] = []
            list.reserveCapacity(count)
            for _ in 0..<count { list.append(try element(&self)) }
            return list
        }
    }

    /// Decodes facts.
    ///
    /// - Throws: ``Damage`` if the bytes are not valid.
    package static func facts(from bytes: UnsafeRawBufferPointer) throws -> SourceFacts {
        var reader = Reader(bytes: bytes)
        try reader.readTexts()
        var facts = SourceFacts()
        facts.notes = try reader.list {
            SourceFacts.Note(remark: try $0.raw(SourceFacts.Remark.self), place: try $0.place())
        }
        facts.imports = try reader.list {
            ImportFact(
                module: try $0.text(),
                path: try $0.text(),
                kind: try $0.text(),
                access: try access(try $0.byte()),
                attributes: ImportAttributes(rawValue: try $0.byte()),
                isConditional: try $0.number() == 1,
                place: try $0.place()
            )
        }
        var names: [String] = []
        facts.declarations = try reader.list {
            let kind = try $0.raw(DeclarationFact.Kind.self)
            let name = try $0.text()
            let parent = try declaration(try $0.int32(), names.count)
            let qualified =
                parent < 0 ? name : DeclarationFact.qualified(name, in: names[Int(parent)])
            names.append(qualified)
            return DeclarationFact(
                kind: kind,
                name: name,
                qualifiedName: qualified,
                parent: parent,
                access: try $0.raw(AccessLevel.self),
                traits: DeclarationFact.Traits(rawValue: try $0.byte()),
                place: try $0.place()
            )
        }
        facts.references = try reader.list {
            ReferenceFact(
                path: try $0.text(),
                context: try $0.raw(ReferenceFact.Context.self),
                call: try $0.text(),
                declaration: try declaration(try $0.int32(), names.count),
                place: try $0.place()
            )
        }
        facts.occurrences = try reader.list {
            OccurrenceFact(
                kind: try $0.raw(OccurrenceFact.Kind.self),
                name: try $0.text(),
                detail: try $0.text(),
                declaration: try declaration(try $0.int32(), names.count),
                place: try $0.place()
            )
        }
        facts.allows = try reader.list {
            AllowFact(
                rules: try $0.list { try $0.text() },
                reason: try $0.text(),
                line: try $0.int32(),
                lastLine: try $0.int32(),
                isForFile: try $0.number() == 1,
                place: try $0.place()
            )
        }
        guard reader.position == bytes.count else { throw Damage() }
        return facts
    }

    private static func access(_ byte: UInt8) throws -> AccessLevel? {
        guard byte > 0 else { return nil }
        guard let level = AccessLevel(rawValue: byte - 1) else { throw Damage() }
        return level
    }

    private static func declaration(_ number: Int32, _ count: Int) throws -> Int32 {
        guard (0...count).contains(Int(number)) else { throw Damage() }
        return number - 1
    }
}
