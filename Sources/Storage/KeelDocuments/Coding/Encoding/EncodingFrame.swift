internal import KeelCBOR

/// A value being encoded: the `Encoder` that its `encode(to:)` receives.
final class EncodingFrame {
    enum Shape {
        case undecided
        case array
        case map
        case value
        case omitted
    }

    enum Step {
        case root
        case name(String)
        case index(Int)
    }

    /// A value that is encoded later, into a separate sink.
    struct Deferred {
        /// The position of its bytes in the enclosing array.
        var position: Int
        var frame: EncodingFrame
    }

    static let deepest = DocumentValidation.deepest

    let sink: EncodingSink
    let parent: EncodingFrame?
    let step: Step
    let depth: Int
    let serial: Int
    private let start: Int
    private let firstField: Int
    private(set) var shape = Shape.undecided
    private(set) var count = 0
    /// Whether keys are field names without conversion.
    var keepsKeys = false
    private var deferred: [Deferred] = []
    private var refusal: (any Error)?

    init(_ sink: EncodingSink, parent: EncodingFrame?, step: Step) {
        self.sink = sink
        self.parent = parent
        self.step = step
        depth = parent.map { $0.depth + 1 } ?? 0
        serial = sink.context.nextSerial()
        start = sink.position
        firstField = sink.fields.count
        sink.active = serial
    }

    // MARK: Shape

    func becomeMap() throws {
        if case .map = shape { return }
        try becomeContainer(.map)
    }

    func becomeArray() throws {
        if case .array = shape { return }
        if isElement { throw flaw(CodingWords.arrayInArray) }
        try becomeContainer(.array)
    }

    private func becomeContainer(_ shape: Shape) throws {
        try beforeWriting()
        guard case .undecided = self.shape else { throw flaw(CodingWords.encodedTwice) }
        guard depth <= Self.deepest else { throw flaw(CodingWords.tooDeep) }
        self.shape = shape
        // Reserves a byte for the header, which suffices for most counts.
        sink.writer.bytes.append(0)
    }

    func becomeValue() throws {
        try beforeWriting()
        guard case .undecided = shape else { throw flaw(CodingWords.encodedTwice) }
        shape = .value
    }

    func omit() { shape = .omitted }

    var isElement: Bool {
        if case .array? = parent?.shape { true } else { false }
    }

    var isWithinArray: Bool { isElement || (parent?.isWithinArray ?? false) }

    // MARK: Fields and elements

    @inline(__always)
    func openField(_ key: String) throws -> String {
        try beforeWriting()
        let name = sink.context.keys == .asIs || keepsKeys ? key : sink.context.fieldName(key)
        try check(name)
        let start = sink.position
        sink.writer.text(name)
        sink.fields.append(EncodingSink.Field(start: start, value: sink.position, end: 0))
        return name
    }

    @inline(__always)
    func closeField() {
        sink.fields[sink.fields.count - 1].end = sink.position
    }

    /// Removes the field that was opened last and everything written since.
    func cancelField(_ index: Int) {
        sink.discard(from: sink.fields[index].start, fields: index)
        sink.active = serial
    }

    @inline(__always)
    func openElement() throws {
        try beforeWriting()
        count += 1
    }

    func cancelElement(from position: Int) {
        sink.discard(from: position, fields: firstField)
        count -= 1
        sink.active = serial
    }

    /// Returns a frame for a field that is encoded after this call returns.
    func deferredFrame(forKey key: String) throws -> EncodingFrame {
        let name = try openField(key)
        sink.fields[sink.fields.count - 1].end = ~deferred.count
        return deferredFrame(.name(name))
    }

    /// Returns a frame for an element that is encoded after this call returns.
    func deferredElement() throws -> EncodingFrame {
        try openElement()
        return deferredFrame(.index(count - 1))
    }

    private func deferredFrame(_ step: Step) -> EncodingFrame {
        let sink = EncodingSink(context: sink.context, capacity: 64)
        let frame = EncodingFrame(sink, parent: self, step: step)
        deferred.append(Deferred(position: self.sink.position, frame: frame))
        return frame
    }

    /// Returns a frame whose every use throws.
    func frame(failingWith error: any Error) -> EncodingFrame {
        let sink = EncodingSink(context: sink.context, capacity: 0)
        let frame = EncodingFrame(sink, parent: self, step: .root)
        frame.refusal = error
        sink.active = 0
        refuse(error)
        return frame
    }

    /// Makes the value fail even if the failed container is never used.
    func refuse(_ error: any Error) { refusal = refusal ?? error }

    // MARK: Finishing

    /// Completes the value; returns false if it is omitted.
    func finish() throws -> Bool {
        if let refusal { throw refusal }
        switch shape {
        case .value: break
        case .map: try sink.finishMap(at: start, fields: firstField, deferred: deferred)
        case .array: try sink.finishArray(at: start, count: count, deferred: deferred)
        case .undecided: sink.writer.mapHeader(0)
        case .omitted: return false
        }
        return true
    }

    /// Completes a frame with a separate sink, and returns its bytes.
    func finishedBytes() throws -> [UInt8] {
        if try !finish() { sink.writer.null() }
        return sink.writer.bytes
    }

    // MARK: Checks

    /// Throws if a container is used after its value ended.
    @inline(__always)
    func beforeWriting() throws {
        guard sink.active == serial else { throw refusal ?? flaw(CodingWords.outOfTurn) }
    }

    @inline(__always)
    private func check(_ name: String) throws {
        let utf8 = name.utf8
        guard utf8.count <= StoredName.longest, let first = utf8.first else {
            let why = name.isEmpty ? CodingWords.emptyName : CodingWords.longName
            throw flaw(why, at: DocumentCodingKey(stringValue: String(name.prefix(40))))
        }
        if first == UInt8(ascii: "_"), StoredName.isReserved(name) {
            throw flaw(CodingWords.reservedName, at: DocumentCodingKey(stringValue: name))
        }
    }
}
