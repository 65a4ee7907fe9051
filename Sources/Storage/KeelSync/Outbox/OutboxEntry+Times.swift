internal import KeelCore
internal import KeelStorage

/// The stored times of an entry: the end of its lease and of its retry delay, and the start of its total limit.
///
/// The time of day is wrong after somebody sets the clock. The end of a lease and the start of the total limit are
/// therefore also stored in the time since the machine's start, which decides for all processes of the same start. A
/// retry delay is over when either time says so, or if it began later than now.
extension OutboxEntry {
    /// Returns the time since the write was enqueued, or since it was last edited or sent again by the app.
    func age(at moment: OutboxMoment) -> Duration {
        if let uptime = moment.uptime, let begun, begun["boot"]?.stringValue == uptime.boot,
            let start = begun["uptime"]?.integerValue
        {
            return uptime.time - Duration.microseconds(start)
        }
        return moment.wall.duration(since: begun?["wall"]?.timestampValue ?? enqueuedAt)
    }

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
                "leaseEnd": .integer((uptime.time + length).microseconds),
            ]
            changes[2] = FieldChange("machine", .set(.map(machine)))
        }
        return changes
    }

    static var unclaiming: [FieldChange] {
        [
            FieldChange("owner", .remove), FieldChange("leaseEnd", .remove),
            FieldChange("machine", .remove),
        ]
    }

    static func pausing(at moment: OutboxMoment, for length: Duration) -> [FieldChange] {
        var pause: DocumentFields = ["length": .integer(length.microseconds)]
        if let uptime = moment.uptime {
            pause["boot"] = .string(uptime.boot)
            pause["end"] = .integer((uptime.time + length).microseconds)
        }
        return [
            FieldChange("notBefore", .set(.timestamp(moment.wall.advanced(by: length)))),
            FieldChange("pause", .set(.map(pause))),
        ]
    }

    static var unpausing: [FieldChange] {
        [FieldChange("notBefore", .remove), FieldChange("pause", .remove)]
    }

    /// Returns the end of the current lease, nil if there is none, and whether the time since the machine's start
    /// determines it.
    static func claim(
        in fields: DocumentFields,
        at moment: OutboxMoment
    ) -> (end: Timestamp?, isCertain: Bool) {
        guard let wallEnd = fields["leaseEnd"]?.timestampValue else { return (nil, true) }
        if let uptime = moment.uptime, let machine = fields["machine"]?.mapValue,
            machine["boot"]?.stringValue == uptime.boot,
            // A version that does not know this field leaves the value of an earlier lease in it.
            machine["owner"]?.stringValue == fields["owner"]?.stringValue,
            let end = machine["leaseEnd"]?.integerValue
        {
            let rest = Duration.microseconds(end) - uptime.time
            return (rest > .zero ? moment.wall.advanced(by: rest) : nil, true)
        }
        return (wallEnd > moment.wall ? wallEnd : nil, false)
    }

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
        // The delay began later than now, by more than the small corrections of a running clock: the clock was set
        // back.
        let latest = moment.wall.advanced(by: .microseconds(length) + .seconds(1))
        return latest < end ? nil : end
    }
}
