internal import KeelRepositories
internal import RestaurantsDomain

extension RestaurantDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Restaurant {
        let fields = FieldMapper(of: id)
        return Restaurant(
            id: try fields.restaurantID(id, "id"),
            name: try fields.required(name, "name"),
            borough: try fields.required(borough, "borough"),
            cuisine: try fields.required(cuisine, "cuisine"),
            address: try fields.one(address, "address"),
            location: try fields.optional.one(location, "location"),
            grades: try fields.optional.list(grades, "grades")
        )
    }
}

extension AddressDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Address {
        let fields = FieldMapper()
        return Address(
            building: try fields.required(building, "building"),
            street: try fields.required(street, "street"),
            zipCode: try fields.required(zipcode, "zipcode")
        )
    }
}

extension CoordinateDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Coordinate {
        let fields = FieldMapper()
        let latitude = try fields.required(latitude, "latitude")
        let longitude = try fields.required(longitude, "longitude")
        return try fields.value(latitude, "", expecting: "a place on the globe") {
            Coordinate(latitude: $0, longitude: longitude)
        }
    }
}

extension GradeDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Grade {
        let fields = FieldMapper()
        return Grade(
            date: try fields.date(date, "date"),
            mark: try fields.oneOf(grade, "grade"),
            score: try fields.required(score, "score")
        )
    }
}

extension FieldMapper {
    /// The id of a restaurant, which the domain may refuse.
    func restaurantID(_ text: String?, _ field: String) throws(MappingError) -> RestaurantID {
        try value(text, field) { try RestaurantID($0) }
    }

    /// The id of a user, which the domain may refuse.
    func userID(_ text: String?, _ field: String) throws(MappingError) -> UserID {
        try value(text, field) { try UserID($0) }
    }
}
