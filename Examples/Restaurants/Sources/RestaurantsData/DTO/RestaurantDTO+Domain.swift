internal import Foundation
internal import RestaurantsDomain

extension Restaurant {
    /// Maps an entry of a list, if it can be read at all.
    init(_ entry: RestaurantEntryDTO) throws(MappingFailure) {
        switch entry {
        case .restaurant(let dto): try self.init(dto)
        case .unreadable(let failure): throw failure
        }
    }

    /// Maps what the service wrote.
    init(_ dto: RestaurantDTO) throws(MappingFailure) {
        func required<Value>(_ value: Value?, _ field: String) throws(MappingFailure) -> Value {
            guard let value else { throw MappingFailure(id: dto.id, field, .missing) }
            return value
        }
        let address = try required(dto.address, "address")
        var grades: [Grade] = []
        for (index, grade) in (dto.grades ?? []).enumerated() {
            grades.append(try Grade(grade, "grades[\(index)]", of: dto.id))
        }
        self.init(
            id: try RestaurantID(mapping: try required(dto.id, "id")),
            name: try required(dto.name, "name"),
            borough: try required(dto.borough, "borough"),
            cuisine: try required(dto.cuisine, "cuisine"),
            address: Address(
                building: try required(address.building, "address.building"),
                street: try required(address.street, "address.street"),
                zipCode: try required(address.zipcode, "address.zipcode")
            ),
            location: try dto.location.map { location throws(MappingFailure) in
                try Coordinate(
                    mapping: try required(location.latitude, "location.latitude"),
                    try required(location.longitude, "location.longitude"),
                    of: dto.id
                )
            },
            grades: grades
        )
    }
}

extension Grade {
    fileprivate init(
        _ dto: GradeDTO,
        _ place: String,
        of id: String?
    ) throws(MappingFailure) {
        guard let text = dto.date else { throw MappingFailure(id: id, "\(place).date", .missing) }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw MappingFailure(id: id, "\(place).date", .invalid(text))
        }
        guard let name = dto.grade else { throw MappingFailure(id: id, "\(place).grade", .missing) }
        guard let score = dto.score else {
            throw MappingFailure(id: id, "\(place).score", .missing)
        }
        self.init(date: date, mark: try Mark(mapping: name, place, of: id), score: score)
    }
}

// MARK: - Parts that the service's and the stored form share

extension RestaurantID {
    init(mapping text: String) throws(MappingFailure) {
        do throws(DomainError) {
            try self.init(text)
        } catch {
            throw MappingFailure(id: text, "id", .invalid(text))
        }
    }
}

extension Coordinate {
    init(
        mapping latitude: Double,
        _ longitude: Double,
        of id: String?
    ) throws(MappingFailure) {
        guard let place = Coordinate(latitude: latitude, longitude: longitude) else {
            throw MappingFailure(id: id, "location", .invalid("\(latitude), \(longitude)"))
        }
        self = place
    }
}

extension Grade.Mark {
    init(mapping name: String, _ place: String, of id: String?) throws(MappingFailure) {
        guard let mark = Grade.Mark(rawValue: name) else {
            throw MappingFailure(id: id, "\(place).grade", .invalid(name))
        }
        self = mark
    }
}
