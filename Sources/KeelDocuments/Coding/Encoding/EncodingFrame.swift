internal import KeelCore

/// One value that is being encoded: the `Encoder` that its `encode(to:)` sees.
final class EncodingFrame {
    /// What the value has turned out to be.
    enum Shape {
        case undecided
        case array
        case map
        /// Written whole.
        case value
        /// Leaves no trace where it stands.
        case omitted
    }

    /// The way from the enclosing value.
    enum Step {
        case root
        case name(String)
        case index(Int)
    }

    /// A value that is encoded later, into a sink of its own.
    struct Deferred {
        /// Where its bytes belong; of use in arrays.
        var position: Int
        var frame: EncodingFrame
    }

    /// How many maps and arrays may enclose each other in a document, which does not count itself.
    static let deepest = 20

    let sink: EncodingSink
    let parent: EncodingFrame?
    let step: Step
    let depth: Int
    let serial: Int
    private let start: Int
    private let firstField: Int
    private(set) var shape = Shape.undecided
    /// The number of elements of an array.
    private(set) var count = 0
    /// Whether keys are taken as they are.
    var keepsKeys = false
    private var deferred: [Deferred] = []
    /// Why nothing may be written here.
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
        // Kept for the header; most counts fit into one byte.
        sink.writer.bytes.append(0)
    }

    /// Notes that the one value of this frame is about to be written whole.
    func becomeValue() throws {
        try beforeWriting()
        guard case .undecided = shape else { throw flaw(CodingWords.encodedTwice) }
        shape = .value
    }

    /// Leaves the value out of what encloses it.
    func omit() { shape = .omitted }

    /// Whether an array encloses this value directly.
    var isElement: Bool {
        if case .array? = parent?.shape { true } else { false }
    }

    /// Whether an array encloses this value at some level.
    var isWithinArray: Bool { isElement || (parent?.isWithinArray ?? false) }

    // MARK: Fields and elements

    /// Writes a field's name; its value follows.
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

    /// Takes back the field that was opened last, and whatever it left behind.
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

    /// Makes a frame for a value that is encoded after this call returns.
    func deferredFrame(forKey key: String) throws -> EncodingFrame {
        let name = try openField(key)
        sink.fields[sink.fields.count - 1].end = ~deferred.count
        return deferredFrame(.name(name))
    }

    /// Makes a frame for an element that is encoded after this call returns.
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

    /// Makes a frame whose every use throws, for containers that could not be made.
    func frame(failingWith error: any Error) -> EncodingFrame {
        let sink = EncodingSink(context: sink.context, capacity: 0)
        let frame = EncodingFrame(sink, parent: self, step: .root)
        frame.refusal = error
        sink.active = 0
        refuse(error)
        return frame
    }

    /// Makes the value fail when it ends, also if nobody uses the container that could not be made.
    func refuse(_ error: any Error) { refusal = refusal ?? error }

    // MARK: Finishing

    /// Puts the value into its final form.
    ///
    /// - Returns: Whether there is one.
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

    /// The encoding of a frame that has a sink of its own.
    func finishedBytes() throws -> [UInt8] {
        if try !finish() { sink.writer.null() }
        return sink.writer.bytes
    }

    // MARK: Checks

    /// A container outlives its value only by mistake, and would write into another's bytes.
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
