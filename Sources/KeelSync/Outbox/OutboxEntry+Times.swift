internal import KeelStorage

/// The times in an entry that outlast the process which wrote them: the end of a claim, of a pause.
///
/// A time of day is wrong once somebody sets the clock. A claim is therefore kept in the time since
/// the machine's start too, which decides for every process of the same start. A pause is over when
/// either time says so, or when it began later than now.
extension OutboxEntry {
    /// What claims an entry for a runner, from a moment on.
    static func claiming(
        for owner: String,
        at moment: OutboxMoment,
        lasting length: Duration
    ) -> [FieldChange] {
        let end = moment.wall.advanced(by: length)
        var changes = [
            FieldChange("owner", .set(.string(owner))),
            FieldChange("leaseEnd", .set(.timestamp(end))),
            FieldChange("machine", .remove),
        ]
        if let uptime = moment.uptime {
            let machine: DocumentFields = [
                "boot": .string(uptime.boot), "owner": .string(owner),
                "leaseEnd": .integer((uptime.time + length).wholeMicroseconds),
            ]
            changes[2] = FieldChange("machine", .set(.map(machine)))
        }
        return changes
    }

    /// What ends a claim.
    static var unclaiming: [FieldChange] {
        [
            FieldChange("owner", .remove), FieldChange("leaseEnd", .remove),
            FieldChange("machine", .remove),
        ]
    }

    /// What begins a pause.
    static func pausing(at moment: OutboxMoment, for length: Duration) -> [FieldChange] {
        var pause: DocumentFields = ["length": .integer(length.wholeMicroseconds)]
        if let uptime = moment.uptime {
            pause["boot"] = .string(uptime.boot)
            pause["end"] = .integer((uptime.time + length).wholeMicroseconds)
        }
        return [
            FieldChange("notBefore", .set(.timestamp(moment.wall.advanced(by: length)))),
            FieldChange("pause", .set(.map(pause))),
        ]
    }

    /// What ends a pause.
    static var unpausing: [FieldChange] {
        [FieldChange("notBefore", .remove), FieldChange("pause", .remove)]
    }

    /// Until when a claim holds, nil if none does, and whether the machine's own time says so.
    static func claim(
        in fields: DocumentFields,
        at moment: OutboxMoment
    ) -> (end: Timestamp?, isCertain: Bool) {
        guard let wallEnd = fields["leaseEnd"]?.timestampValue else { return (nil, true) }
        if let uptime = moment.uptime, let machine = fields["machine"]?.mapValue,
            machine["boot"]?.stringValue == uptime.boot,
            // A version that does not know this field leaves the value of an earlier claim in it.
            machine["owner"]?.stringValue == fields["owner"]?.stringValue,
            let end = machine["leaseEnd"]?.integerValue
        {
            let rest = Duration.microseconds(end) - uptime.time
            return (rest > .zero ? moment.wall.advanced(by: rest) : nil, true)
        }
        return (wallEnd > moment.wall ? wallEnd : nil, false)
    }

    /// Until when a pause lasts; nil if it is over.
    static func pauseEnd(in fields: DocumentFields, at moment: OutboxMoment) -> Timestamp? {
        guard let end = fields["notBefore"]?.timestampValue, end > moment.wall else { return nil }
        guard let pause = fields["pause"]?.mapValue,
            let length = pause["length"]?.integerValue
        else { return end }
        if let uptime = moment.uptime, pause["boot"]?.stringValue == uptime.boot,
            let machineEnd = pause["end"]?.integerValue
        {
            let rest = Duration.microseconds(machineEnd) - uptime.time
            return rest > .zero ? min(end, moment.wall.advanced(by: rest)) : nil
        }
        // It began later than now, by more than clocks are corrected while they run: the clock was
        // set back since.
        let latest = moment.wall.advanced(by: .microseconds(length) + .seconds(1))
        return latest < end ? nil : end
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(
            clamping: Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        )
    }
}
